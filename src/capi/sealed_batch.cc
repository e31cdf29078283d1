#include "capi/sealed_batch.h"

#include <optional>

#include "base/bytes.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "capi/options.h"
#include "model/version_bytes.h"
#include "source/packing.h"

namespace lastword::capi {
namespace {

constexpr std::string_view kMagic = "LWSB";
constexpr uint16_t kFormat = 2;
constexpr uint16_t kArrival = 1;
constexpr size_t kIdBytes = 16;
constexpr size_t kDigestBytes = sizeof(uint64_t);
constexpr size_t kHeadBytesMin = 13;        // kind, digest, size of the key
constexpr size_t kKeptBytesMax = 16 << 20;  // of memory that stays with an encoder
constexpr std::string_view kEndsEarly = "it ends early";
constexpr std::string_view kKeysTooLong = "its keys are too long";

enum HeadKind : uint8_t { kHeadUpsert = 0, kHeadDelete = 1, kHeadLoneUpdateBefore = 2 };

Error Corrupt(std::string_view what) {
  return Error{ErrorKind::kStorageCorrupt, Message("a sealed batch cannot be read: {}", what), {}};
}

template <typename Value>
void PutEach(const ChangeBatch& changes, ByteWriter& out, Value value) {
  for (const ChangeHead& head : changes.heads) out.Put(value(head));
}

void PutHeads(const SealedChanges& sealed, ByteWriter& out) {
  const ChangeBatch& changes = sealed.changes;
  out.Put(static_cast<uint32_t>(changes.heads.size()));
  PutEach(changes, out, [](const ChangeHead& head) {
    const bool lone = (head.flags & kUpdateBefore) != 0;
    return lone ? kHeadLoneUpdateBefore : head.kind == Kind::kDelete ? kHeadDelete : kHeadUpsert;
  });
  PutEach(changes, out, [](const ChangeHead& head) { return head.digest; });
  for (const ChangeHead& head : changes.heads) {
    if (sealed.arrival) break;
    PutVersion(head.version, out);
  }
  PutEach(changes, out, [](const ChangeHead& head) { return head.key_size; });
  for (const ChangeHead& head : changes.heads) out.PutRaw(changes.KeyOf(head));
}

void PutColumn(const ColumnData& column, ByteWriter& out) {
  std::string nulls((column.size() + 7) / 8, '\0');
  for (uint64_t i = 0; i < column.size() && column.null_count() != 0; ++i) {
    if (column.IsNull(i)) nulls[i >> 3] |= static_cast<char>(1 << (i & 7));
  }
  out.PutRaw(nulls);
  if (FixedWidth(column.type()) != 0) {
    out.PutRaw(column.raw_bytes());
    return;
  }
  const std::vector<uint64_t>& ends = column.offsets();
  for (uint64_t i = 0; i < column.size(); ++i) {
    out.Put(static_cast<uint32_t>(ends[i + 1] - ends[i]));
  }
  if (column.type().kind == TypeKind::kList) {
    PutColumn(column.child(), out);
  } else {
    out.PutRaw(column.raw_bytes());
  }
}

// What lies behind the batch's id, in either format.
class ContentReader {
 public:
  ContentReader(std::string_view content, uint16_t format, bool arrival)
      : x_in(content), x_format(format), x_arrival(arrival) {}

  /// Fills `sealed` but for its id.
  Status Read(SealedChanges& sealed);

 private:
  Status ReadSchema(Schema& schema);
  Status ReadHeads(ChangeBatch& changes);
  Status ReadHeadsOfFormat1(ChangeBatch& changes);
  Status ReadColumn(uint64_t rows, ColumnData& out);
  Status ReadVariable(uint64_t rows, std::string_view nulls, ColumnData& out);
  Status ReadEnds(uint64_t rows, std::string_view nulls, std::vector<uint64_t>& ends);

  ByteReader x_in;
  const uint16_t x_format;
  const bool x_arrival;
  uint32_t x_rows = 0;  // of the upserts that were read
};

bool IsNull(std::string_view nulls, uint64_t row) {
  return (static_cast<uint8_t>(nulls[row >> 3]) >> (row & 7) & 1) != 0;
}

Status SetKind(uint8_t kind, uint32_t& next_row, ChangeHead& head) {
  if (kind > kHeadLoneUpdateBefore) return Corrupt("a change is of no known kind");
  head.kind = kind == kHeadUpsert ? Kind::kUpsert : Kind::kDelete;
  if (kind == kHeadUpsert) head.row = next_row++;
  if (kind == kHeadLoneUpdateBefore) head.flags |= kUpdateBefore;
  return Ok{};
}

// Begins at `begin` of the batch's keys.
void SetKey(std::string_view key, uint64_t begin, ChangeHead& head) {
  head.key = Hash128(key);
  head.key_begin = static_cast<uint32_t>(begin);
  head.key_size = static_cast<uint32_t>(key.size());
}

Status ContentReader::Read(SealedChanges& sealed) {
  LW_RETURN_IF_ERROR(ReadSchema(sealed.schema));
  const uint32_t heads = x_in.Get<uint32_t>();
  if (x_in.left() / kHeadBytesMin < heads) return Corrupt(kEndsEarly);
  ChangeBatch& changes = sealed.changes;
  changes.heads.clear();
  changes.heads.resize(heads);
  changes.details.clear();
  changes.key_bytes.clear();
  changes.inputs.clear();
  x_rows = 0;
  LW_RETURN_IF_ERROR(x_format == 1 ? ReadHeadsOfFormat1(changes) : ReadHeads(changes));
  for (ChangeHead& head : changes.heads) {
    if (x_arrival) head.flags |= kArrivalVersion;
  }
  if (x_in.Get<uint32_t>() != x_rows) {
    return Corrupt("it has another number of rows than of upserts");
  }
  changes.rows = Rows(sealed.schema);
  for (ColumnData& column : changes.rows.columns) {
    LW_RETURN_IF_ERROR(ReadColumn(x_rows, column));
  }
  return x_in.ok() && x_in.at_end() ? Status(Ok{}) : Corrupt("its length is wrong");
}

Status ContentReader::ReadSchema(Schema& schema) {
  auto json = ParseJson(x_in.GetBytes());
  if (!x_in.ok() || !json.ok()) return Corrupt("its schema is no JSON");
  auto declared = ParseDeclaredSchema(*json);
  if (!declared.ok()) return Corrupt(declared.error().message);
  schema = std::move(declared->schema);
  return Ok{};
}

Status ContentReader::ReadHeads(ChangeBatch& changes) {
  const uint64_t heads = changes.heads.size();
  ByteReader kinds(x_in.GetRaw(heads * sizeof(uint8_t)));
  ByteReader digests(x_in.GetRaw(heads * sizeof(uint64_t)));
  ByteReader versions(x_in.GetRaw(x_arrival ? 0 : heads * kVersionBytes));
  const std::string_view key_sizes = x_in.GetRaw(heads * sizeof(uint32_t));
  uint64_t key_bytes = 0;
  for (ByteReader sizes(key_sizes); !sizes.at_end();) key_bytes += sizes.Get<uint32_t>();
  const std::string_view keys = x_in.GetRaw(key_bytes);
  if (!x_in.ok()) return Corrupt(kEndsEarly);
  if (key_bytes > UINT32_MAX) return Corrupt(kKeysTooLong);
  changes.key_bytes.assign(keys);
  // One pass over the heads, which are long, beside one over each column.
  ByteReader sizes(key_sizes);
  uint64_t begin = 0;
  for (ChangeHead& head : changes.heads) {
    LW_RETURN_IF_ERROR(SetKind(kinds.Get<uint8_t>(), x_rows, head));
    head.digest = digests.Get<uint64_t>();
    if (!x_arrival) head.version = GetVersion(versions);
    const uint32_t key_size = sizes.Get<uint32_t>();
    SetKey(keys.substr(begin, key_size), begin, head);
    begin += key_size;
  }
  return Ok{};
}

Status ContentReader::ReadHeadsOfFormat1(ChangeBatch& changes) {
  for (ChangeHead& head : changes.heads) {
    LW_RETURN_IF_ERROR(SetKind(x_in.Get<uint8_t>(), x_rows, head));
    head.digest = x_in.Get<uint64_t>();
    if (!x_arrival) head.version = GetVersion(x_in);
    const std::string_view key = x_in.GetBytes();
    if (!x_in.ok()) return Corrupt(kEndsEarly);
    if (changes.key_bytes.size() + key.size() > UINT32_MAX) return Corrupt(kKeysTooLong);
    SetKey(key, changes.key_bytes.size(), head);
    changes.key_bytes += key;
  }
  return Ok{};
}

Status ContentReader::ReadEnds(uint64_t rows, std::string_view nulls, std::vector<uint64_t>& ends) {
  const uint64_t width = x_format == 1 ? sizeof(uint64_t) : sizeof(uint32_t);
  if (x_in.left() / width < rows) return Corrupt(kEndsEarly);
  ends.reserve(rows);
  uint64_t last = 0;
  for (uint64_t i = 0; i < rows; ++i) {
    const uint64_t end = x_format == 1 ? x_in.Get<uint64_t>() : last + x_in.Get<uint32_t>();
    if (end < last || (IsNull(nulls, i) && end != last)) {
      return Corrupt("the end of a value lies before it");
    }
    ends.push_back(last = end);
  }
  return Ok{};
}

Status ContentReader::ReadVariable(uint64_t rows, std::string_view nulls, ColumnData& out) {
  std::vector<uint64_t> ends;
  LW_RETURN_IF_ERROR(ReadEnds(rows, nulls, ends));
  const uint64_t total = ends.empty() ? 0 : ends.back();
  const bool is_list = out.type().kind == TypeKind::kList;
  const bool is_text = out.type().kind == TypeKind::kString || out.type().kind == TypeKind::kJson;
  ColumnData elements(is_list ? *out.type().element : out.type());
  std::string_view text;
  if (is_list) {
    if (x_format == 1 && x_in.Get<uint32_t>() != total) {
      return Corrupt("a list column has another number of elements");
    }
    LW_RETURN_IF_ERROR(ReadColumn(total, elements));
  } else {
    text = x_in.GetRaw(total);
    if (!x_in.ok()) return Corrupt(kEndsEarly);
    out.Reserve(rows, total);
  }
  uint64_t begin = 0;
  for (uint64_t i = 0; i < rows; ++i) {
    const uint64_t end = ends[i];
    if (IsNull(nulls, i)) {
      out.AppendNull();
    } else if (is_list) {
      for (uint64_t j = begin; j < end; ++j) out.child().AppendFrom(elements, j);
      out.AppendList(end - begin);
    } else {
      const std::string_view value = text.substr(begin, end - begin);
      if (is_text && !IsUtf8(value)) return Corrupt("a text is no UTF-8");
      out.AppendBytes(value);
    }
    begin = end;
  }
  return Ok{};
}

Status ContentReader::ReadColumn(uint64_t rows, ColumnData& out) {
  // Of a list's elements, as many as it says may be more than there are bytes.
  if (x_in.left() < rows / 8) return Corrupt(kEndsEarly);
  const std::string_view nulls = x_in.GetRaw((rows + 7) / 8);
  if (!x_in.ok()) return Corrupt(kEndsEarly);
  const uint32_t width = FixedWidth(out.type());
  if (width == 0) return ReadVariable(rows, nulls, out);
  const std::string_view bytes = x_in.GetRaw(rows * width);
  if (!x_in.ok()) return Corrupt(kEndsEarly);
  out.Reserve(rows, bytes.size());
  for (uint64_t i = 0; i < rows; ++i) {
    if (IsNull(nulls, i)) {
      out.AppendNull();
    } else {
      out.AppendFixedBytes(bytes.data() + i * width);
    }
  }
  return Ok{};
}

// The format of an intact batch.
Result<uint16_t> CheckFrame(std::string_view bytes) {
  if (bytes.size() < kMagic.size() + sizeof kFormat + kDigestBytes || !bytes.starts_with(kMagic)) {
    return Corrupt("it does not begin as one");
  }
  ByteReader in(bytes.substr(kMagic.size()));
  const uint16_t format = in.Get<uint16_t>();
  if (format == 0 || format > kFormat) {
    return Error{
        ErrorKind::kUnsupportedFormat,
        Message("a sealed batch has format {}; this library reads up to {}: commit it with "
                "the library that wrote it, or a later one",
                format, kFormat),
        {}};
  }
  ByteReader tail(bytes.substr(bytes.size() - kDigestBytes));
  if (tail.Get<uint64_t>() != Hash64(bytes.substr(0, bytes.size() - kDigestBytes))) {
    return Corrupt("its digest differs from its bytes");
  }
  return format;
}

}  // namespace

Result<std::string> SealedEncoder::Encode(const SealedChanges& sealed) {
  x_content.clear();
  ByteWriter inside(x_content);
  inside.PutBytes(DumpJson(SchemaToJson(sealed.schema)));
  PutHeads(sealed, inside);
  const Rows& rows = sealed.changes.rows;
  inside.Put(static_cast<uint32_t>(rows.size()));
  for (const ColumnData& column : rows.columns) PutColumn(column, inside);

  std::string bytes;
  ByteWriter out(bytes);
  out.PutRaw(kMagic);
  out.Put(kFormat);
  out.Put(static_cast<uint16_t>(sealed.arrival ? kArrival : 0));
  out.PutRaw(sealed.id);
  out.Put(static_cast<uint64_t>(x_content.size()));
  x_bytes.Truncate(0);
  x_bytes.Append(bytes);
  LW_RETURN_IF_ERROR(x_packer.Pack(x_content, x_bytes));
  bytes.clear();
  bytes.reserve(x_bytes.size() + kDigestBytes);
  out.PutRaw(x_bytes.view());
  out.Put(Hash64(bytes));
  LimitMemory();
  return bytes;
}

// A batch that was not cut may be much larger than the ones behind it.
void SealedEncoder::LimitMemory() {
  if (x_content.capacity() > kKeptBytesMax) x_content = std::string();
  if (x_bytes.capacity() > kKeptBytesMax) x_bytes = ByteBuffer();
}

Status SealedDecoder::Decode(std::string_view bytes, SealedChanges& sealed) {
  LW_ASSIGN_OR_RETURN(const uint16_t format, CheckFrame(bytes));
  ByteReader in(bytes.substr(0, bytes.size() - kDigestBytes));
  in.GetRaw(kMagic.size() + sizeof kFormat);
  const uint16_t flags = in.Get<uint16_t>();
  if ((flags & ~kArrival) != 0) return Corrupt("it has unknown flags");
  sealed.arrival = (flags & kArrival) != 0;
  sealed.id = in.GetRaw(kIdBytes);
  if (format == 1) return ContentReader(in.GetRaw(in.left()), format, sealed.arrival).Read(sealed);
  const uint64_t size = in.Get<uint64_t>();
  if (!in.ok() || !Unpack(in.GetRaw(in.left()), size, x_content)) {
    return Corrupt("its content cannot be unpacked");
  }
  return ContentReader(x_content.view(), format, sealed.arrival).Read(sealed);
}

}  // namespace lastword::capi
