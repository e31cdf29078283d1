#include "capi/sealed_batch.h"

#include "base/bytes.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "capi/options.h"

namespace lastword::capi {
namespace {

constexpr std::string_view kMagic = "LWSB";
constexpr uint16_t kFormat = 1;
constexpr uint16_t kArrival = 1;
constexpr size_t kIdBytes = 16;
constexpr size_t kHeadBytesAbout = 64;
constexpr size_t kHeadBytesMin = 13;  // kind, digest, size of the key

enum HeadKind : uint8_t { kHeadUpsert = 0, kHeadDelete = 1, kHeadLoneUpdateBefore = 2 };

Error Corrupt(std::string_view what) {
  return Error{ErrorKind::kStorageCorrupt, Message("a sealed batch cannot be read: {}", what), {}};
}

void PutHeads(const SealedChanges& sealed, ByteWriter& out) {
  const ChangeBatch& changes = sealed.changes;
  out.Put(static_cast<uint32_t>(changes.heads.size()));
  for (const ChangeHead& head : changes.heads) {
    const bool lone = (head.flags & kUpdateBefore) != 0;
    out.Put(lone ? kHeadLoneUpdateBefore : head.kind == Kind::kDelete ? kHeadDelete : kHeadUpsert);
    out.Put(head.digest);
    if (!sealed.arrival) {
      out.Put(head.version.epoch);
      out.Put(head.version.hi);
      out.Put(head.version.mid);
      out.Put(head.version.lo);
    }
    out.PutBytes(changes.KeyOf(head));
  }
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
  out.PutRaw({reinterpret_cast<const char*>(ends.data() + 1), column.size() * sizeof ends[0]});
  if (column.type().kind == TypeKind::kList) {
    out.Put(static_cast<uint32_t>(column.child().size()));
    PutColumn(column.child(), out);
  } else {
    out.PutRaw(column.raw_bytes());
  }
}

Status ReadHead(ByteReader& in, bool arrival, uint32_t& next_row, ChangeBatch& changes) {
  ChangeHead head;
  const uint8_t kind = in.Get<uint8_t>();
  if (kind > kHeadLoneUpdateBefore) return Corrupt("a change is of no known kind");
  head.kind = kind == kHeadUpsert ? Kind::kUpsert : Kind::kDelete;
  if (kind == kHeadUpsert) head.row = next_row++;
  if (kind == kHeadLoneUpdateBefore) head.flags |= kUpdateBefore;
  head.digest = in.Get<uint64_t>();
  if (arrival) {
    head.flags |= kArrivalVersion;
  } else {
    head.version.epoch = in.Get<uint32_t>();
    head.version.hi = in.Get<uint64_t>();
    head.version.mid = in.Get<uint64_t>();
    head.version.lo = in.Get<uint64_t>();
  }
  const std::string_view key = in.GetBytes();
  if (!in.ok()) return Corrupt("it ends early");
  head.key = Hash128(key);
  head.key_begin = static_cast<uint32_t>(changes.key_bytes.size());
  head.key_size = static_cast<uint32_t>(key.size());
  if (changes.key_bytes.size() + key.size() > UINT32_MAX) return Corrupt("its keys are too long");
  changes.key_bytes += key;
  changes.heads.push_back(head);
  return Ok{};
}

Status ReadColumn(ByteReader& in, uint64_t rows, ColumnData& out);

Status ReadEnds(ByteReader& in, uint64_t rows, std::string_view nulls,
                std::vector<uint64_t>& ends) {
  if (in.left() / sizeof(uint64_t) < rows) return Corrupt("it ends early");
  ends.reserve(rows);
  uint64_t last = 0;
  for (uint64_t i = 0; i < rows; ++i) {
    const uint64_t end = in.Get<uint64_t>();
    const bool null = (static_cast<uint8_t>(nulls[i >> 3]) >> (i & 7) & 1) != 0;
    if (end < last || (null && end != last)) return Corrupt("the end of a value lies before it");
    ends.push_back(last = end);
  }
  return Ok{};
}

Status ReadVariable(ByteReader& in, uint64_t rows, std::string_view nulls, ColumnData& out) {
  std::vector<uint64_t> ends;
  LW_RETURN_IF_ERROR(ReadEnds(in, rows, nulls, ends));
  const uint64_t total = ends.empty() ? 0 : ends.back();
  const bool is_list = out.type().kind == TypeKind::kList;
  const bool is_text = out.type().kind == TypeKind::kString || out.type().kind == TypeKind::kJson;
  ColumnData elements(is_list ? *out.type().element : out.type());
  std::string_view text;
  if (is_list) {
    const uint32_t count = in.Get<uint32_t>();
    if (!in.ok() || count != total) return Corrupt("a list column has another number of elements");
    LW_RETURN_IF_ERROR(ReadColumn(in, count, elements));
  } else {
    text = in.GetRaw(total);
    if (!in.ok()) return Corrupt("it ends early");
  }
  uint64_t begin = 0;
  for (uint64_t i = 0; i < rows; ++i) {
    const uint64_t end = ends[i];
    if ((static_cast<uint8_t>(nulls[i >> 3]) >> (i & 7) & 1) != 0) {
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

Status ReadColumn(ByteReader& in, uint64_t rows, ColumnData& out) {
  const std::string_view nulls = in.GetRaw((rows + 7) / 8);
  if (!in.ok()) return Corrupt("it ends early");
  const uint32_t width = FixedWidth(out.type());
  if (width == 0) return ReadVariable(in, rows, nulls, out);
  const std::string_view bytes = in.GetRaw(rows * width);
  if (!in.ok()) return Corrupt("it ends early");
  for (uint64_t i = 0; i < rows; ++i) {
    if ((static_cast<uint8_t>(nulls[i >> 3]) >> (i & 7) & 1) != 0) {
      out.AppendNull();
    } else {
      out.AppendFixedBytes(bytes.data() + i * width);
    }
  }
  return Ok{};
}

Status ReadSchema(ByteReader& in, Schema& schema) {
  auto json = ParseJson(in.GetBytes());
  if (!in.ok() || !json.ok()) return Corrupt("its schema is no JSON");
  auto declared = ParseDeclaredSchema(*json);
  if (!declared.ok()) return Corrupt(declared.error().message);
  schema = std::move(declared->schema);
  return Ok{};
}

Status CheckFrame(std::string_view bytes) {
  constexpr size_t kDigestBytes = sizeof(uint64_t);
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
  return Ok{};
}

}  // namespace

std::string EncodeSealed(const SealedChanges& sealed) {
  std::string bytes;
  bytes.reserve(sealed.changes.rows.bytes_held() + sealed.changes.heads.size() * kHeadBytesAbout);
  ByteWriter out(bytes);
  out.PutRaw(kMagic);
  out.Put(kFormat);
  out.Put(static_cast<uint16_t>(sealed.arrival ? kArrival : 0));
  out.PutRaw(sealed.id);
  out.PutBytes(DumpJson(SchemaToJson(sealed.schema)));
  PutHeads(sealed, out);
  const Rows& rows = sealed.changes.rows;
  out.Put(static_cast<uint32_t>(rows.size()));
  for (const ColumnData& column : rows.columns) PutColumn(column, out);
  out.Put(Hash64(bytes));
  return bytes;
}

Result<SealedChanges> DecodeSealed(std::string_view bytes) {
  LW_RETURN_IF_ERROR(CheckFrame(bytes));
  ByteReader in(bytes.substr(0, bytes.size() - sizeof(uint64_t)));
  in.GetRaw(kMagic.size() + sizeof kFormat);
  SealedChanges sealed;
  const uint16_t flags = in.Get<uint16_t>();
  if ((flags & ~kArrival) != 0) return Corrupt("it has unknown flags");
  sealed.arrival = (flags & kArrival) != 0;
  sealed.id = in.GetRaw(kIdBytes);
  LW_RETURN_IF_ERROR(ReadSchema(in, sealed.schema));
  const uint32_t heads = in.Get<uint32_t>();
  if (in.left() / kHeadBytesMin < heads) return Corrupt("it ends early");
  sealed.changes.heads.reserve(heads);
  uint32_t rows = 0;
  for (uint32_t i = 0; i < heads; ++i) {
    LW_RETURN_IF_ERROR(ReadHead(in, sealed.arrival, rows, sealed.changes));
  }
  if (in.Get<uint32_t>() != rows) return Corrupt("it has another number of rows than of upserts");
  sealed.changes.rows = Rows(sealed.schema);
  for (ColumnData& column : sealed.changes.rows.columns) {
    LW_RETURN_IF_ERROR(ReadColumn(in, rows, column));
  }
  if (!in.ok() || !in.at_end()) return Corrupt("its length is wrong");
  return sealed;
}

}  // namespace lastword::capi
