#include "state/key_extra.h"

#include "base/bytes.h"
#include "model/version_bytes.h"

namespace lastword {
namespace {

void PutHash(const KeyHash& hash, ByteWriter& out) {
  out.Put(hash.high);
  out.Put(hash.low);
}

KeyHash GetHash(ByteReader& in) {
  KeyHash hash;
  hash.high = in.Get<uint64_t>();
  hash.low = in.Get<uint64_t>();
  return hash;
}

void PutRow(const SharedRow& row, ByteWriter& out) {
  if (row) out.PutRaw(RowToBytes(*row->schema, row->rows, 0));
}

Result<SharedRow> GetRow(ByteReader& in) {
  if (in.at_end()) return SharedRow{};
  LW_ASSIGN_OR_RETURN(RowChunk chunk, RowFromBytes(in.GetRaw(in.left())));
  return SharedRow(std::make_shared<const RowChunk>(std::move(chunk)));
}

void PutField(char tag, const std::string& body, std::string& bytes) {
  ByteWriter out(bytes);
  out.Put(tag);
  out.PutBytes(body);
}

std::string WaitingBody(const WaitingChange& waiting) {
  std::string body;
  ByteWriter out(body);
  PutVersion(waiting.version, out);
  PutVersion(waiting.position, out);
  out.Put(waiting.digest);
  PutHash(waiting.old_key, out);
  out.Put(static_cast<uint32_t>(waiting.missing.size()));
  for (const std::string& column : waiting.missing) out.PutBytes(column);
  PutRow(waiting.row, out);
  return body;
}

Result<WaitingChange> ReadWaiting(ByteReader& in) {
  WaitingChange waiting;
  waiting.version = GetVersion(in);
  waiting.position = GetVersion(in);
  waiting.digest = in.Get<uint64_t>();
  waiting.old_key = GetHash(in);
  const uint32_t count = in.Get<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); ++i) waiting.missing.emplace_back(in.GetBytes());
  LW_ASSIGN_OR_RETURN(waiting.row, GetRow(in));
  return waiting;
}

Status ReadField(char tag, ByteReader in, KeyExtra& extra) {
  switch (tag) {
    case 'C': {
      CarriedColumn carried;
      carried.from = GetVersion(in);
      carried.column = in.GetRaw(in.left());
      extra.carried.push_back(std::move(carried));
      break;
    }
    case 'Q':
      extra.quarantined = true;
      break;
    case 'H':
      extra.held = GetVersion(in);
      break;
    case 'D':
      extra.delete_inputs.push_back(static_cast<uint16_t>(in.Get<uint32_t>()));
      break;
    case 'K': {
      KeptRow kept;
      kept.position = GetVersion(in);
      kept.new_key = GetHash(in);
      LW_ASSIGN_OR_RETURN(kept.row.row, GetRow(in));
      extra.kept.push_back(std::move(kept));
      break;
    }
    case 'W': {
      LW_ASSIGN_OR_RETURN(extra.waiting, ReadWaiting(in));
      break;
    }
    case 'O': {
      OverwrittenRow overwritten;
      overwritten.epoch = in.Get<uint32_t>();
      overwritten.hi = in.Get<uint64_t>();
      LW_ASSIGN_OR_RETURN(overwritten.row.row, GetRow(in));
      extra.overwritten = std::move(overwritten);
      break;
    }
    default:
      return Error{ErrorKind::kUnsupportedFormat,
                   "the ledger holds a field that this version does not know; a newer lastword "
                   "wrote it: use that one",
                   {}};
  }
  if (!in.ok()) return Error{ErrorKind::kStorageCorrupt, "a ledger field is too short", {}};
  return Ok{};
}

}  // namespace

std::string ExtraToBytes(const KeyExtra& extra) {
  std::string bytes;
  for (const CarriedColumn& carried : extra.carried) {
    std::string body;
    ByteWriter out(body);
    PutVersion(carried.from, out);
    out.PutRaw(carried.column);
    PutField('C', body, bytes);
  }
  if (extra.quarantined) PutField('Q', "", bytes);
  if (extra.held) {
    std::string body;
    ByteWriter out(body);
    PutVersion(*extra.held, out);
    PutField('H', body, bytes);
  }
  for (const uint16_t input : extra.delete_inputs) {
    std::string body;
    ByteWriter(body).Put(uint32_t{input});
    PutField('D', body, bytes);
  }
  for (const KeptRow& kept : extra.kept) {
    std::string body;
    ByteWriter out(body);
    PutVersion(kept.position, out);
    PutHash(kept.new_key, out);
    PutRow(kept.row.row, out);
    PutField('K', body, bytes);
  }
  if (extra.waiting) PutField('W', WaitingBody(*extra.waiting), bytes);
  if (extra.overwritten) {
    std::string body;
    ByteWriter out(body);
    out.Put(extra.overwritten->epoch);
    out.Put(extra.overwritten->hi);
    PutRow(extra.overwritten->row.row, out);
    PutField('O', body, bytes);
  }
  return bytes;
}

Result<KeyExtra> ExtraFromBytes(std::string_view bytes) {
  KeyExtra extra;
  ByteReader in(bytes);
  while (!in.at_end()) {
    const char tag = in.Get<char>();
    const std::string_view body = in.GetBytes();
    if (!in.ok()) return Error{ErrorKind::kStorageCorrupt, "a ledger entry is cut short", {}};
    LW_RETURN_IF_ERROR(ReadField(tag, ByteReader(body), extra));
  }
  return extra;
}

}  // namespace lastword
