#include "commit/ledger.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "model/digest.h"

namespace lastword {
namespace {

constexpr const char* kWriterEpoch = "lastword.writer_epoch";
constexpr uint8_t kKeyRow = 1;
constexpr uint8_t kCheckpointRow = 2;

// In the order of LedgerSchema.
enum LedgerColumn : size_t {
  kKind,
  kKeyHigh,
  kKeyLow,
  kKey,
  kStatus,
  kEpoch,
  kHi,
  kMid,
  kLo,
  kDeleteInput,
  kExtra,
};

Error Corrupt(const std::string& what) {
  return Error{ErrorKind::kStorageCorrupt,
               Message("the ledger cannot be read: {}. Restore the table to an older version "
                       "(lastword log lists "
                       "them), or load it anew",
                       what),
               {}};
}

KeyEntry EntryAt(const Rows& rows, uint64_t row, RowAddress address) {
  KeyEntry entry;
  entry.key = {rows.columns[kKeyHigh].Fixed<uint64_t>(row),
               rows.columns[kKeyLow].Fixed<uint64_t>(row)};
  entry.epoch = rows.columns[kEpoch].Fixed<uint32_t>(row);
  entry.hi = rows.columns[kHi].Fixed<uint64_t>(row);
  entry.mid = rows.columns[kMid].Fixed<uint64_t>(row);
  entry.lo = rows.columns[kLo].Fixed<uint64_t>(row);
  entry.status = static_cast<KeyStatus>(rows.columns[kStatus].Fixed<uint8_t>(row));
  entry.delete_input = static_cast<uint16_t>(rows.columns[kDeleteInput].Fixed<uint32_t>(row));
  entry.digest = kDeleteDigest;
  entry.address = address;
  return entry;
}

Status ReadKeyRow(const Rows& rows, uint64_t row, RowAddress address, LedgerContents& contents,
                  const std::function<Status(const KeyEntry&)>& sink) {
  KeyEntry entry = EntryAt(rows, row, address);
  if (entry.status > KeyStatus::kTombstone)
    return Corrupt(Message("unknown status at address {}", address));
  const bool has_fields = !rows.columns[kExtra].IsNull(row);
  if (has_fields || entry.status != KeyStatus::kTombstone) {
    StoredExtra stored;
    stored.address = address;
    stored.key = rows.columns[kKey].Bytes(row);
    if (has_fields) {
      LW_ASSIGN_OR_RETURN(stored.extra, ExtraFromBytes(rows.columns[kExtra].Bytes(row)));
    }
    entry.has_extra = true;
    // Of a live key the visible row tells.
    if (entry.live()) entry.status = KeyStatus::kNone;
    if (!contents.extras.emplace(entry.key, std::move(stored)).second) {
      return Corrupt(Message("two entries of one key, the second at address {}", address));
    }
  }
  return sink(entry);
}

}  // namespace

std::string CompanionFolder(const std::string& table_uri) {
  std::string folder = table_uri;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return folder + ".lastword";
}

std::string LedgerUri(const std::string& table_uri) {
  return CompanionFolder(table_uri) + "/ledger.lance";
}

Schema LedgerSchema() {
  const std::pair<const char*, TypeKind> kColumns[] = {
      {"kind", TypeKind::kUint8},     {"key_high", TypeKind::kUint64},
      {"key_low", TypeKind::kUint64}, {"key", TypeKind::kBytes},
      {"status", TypeKind::kUint8},   {"epoch", TypeKind::kUint32},
      {"hi", TypeKind::kUint64},      {"mid", TypeKind::kUint64},
      {"lo", TypeKind::kUint64},      {"delete_input", TypeKind::kUint32},
      {"extra", TypeKind::kBytes}};
  Schema schema;
  for (const auto& [name, kind] : kColumns) {
    Column column;
    column.name = name;
    column.type.kind = kind;
    column.nullable = kind == TypeKind::kBytes;
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

KeyHash CheckpointHash(const std::string& id) {
  return Hash128(id);
}

Properties LedgerProperties(uint64_t writer_epoch) {
  return {{kWriterEpoch, std::to_string(writer_epoch)}};
}

uint64_t LedgerWriterEpoch(const Properties& properties) {
  const auto found = properties.find(kWriterEpoch);
  if (found == properties.end()) return 0;
  uint64_t epoch = 0;
  const std::string& text = found->second;
  std::from_chars(text.data(), text.data() + text.size(), epoch);
  return epoch;
}

Rows LedgerRows(const std::vector<LedgerRow>& keys, const std::string& checkpoint_id,
                uint64_t table_version) {
  Rows rows(LedgerSchema());
  const auto append = [&rows](uint8_t kind, const KeyEntry& entry, std::string_view key,
                              std::string_view extra) {
    std::vector<ColumnData>& columns = rows.columns;
    columns[kKind].AppendFixed(kind);
    columns[kKeyHigh].AppendFixed(entry.key.high);
    columns[kKeyLow].AppendFixed(entry.key.low);
    columns[kKey].AppendBytes(key);
    columns[kStatus].AppendFixed(static_cast<uint8_t>(entry.status));
    columns[kEpoch].AppendFixed(entry.epoch);
    columns[kHi].AppendFixed(entry.hi);
    columns[kMid].AppendFixed(entry.mid);
    columns[kLo].AppendFixed(entry.lo);
    columns[kDeleteInput].AppendFixed(uint32_t{entry.delete_input});
    if (extra.empty()) {
      columns[kExtra].AppendNull();
    } else {
      columns[kExtra].AppendBytes(extra);
    }
  };
  for (const LedgerRow& key : keys) append(kKeyRow, key.entry, key.key, key.extra);
  if (!checkpoint_id.empty()) {
    KeyEntry entry;
    entry.key = CheckpointHash(checkpoint_id);
    entry.hi = table_version;
    append(kCheckpointRow, entry, {}, {});
  }
  return rows;
}

Result<LedgerContents> ReadLedger(Dataset& ledger,
                                  const std::function<Status(const KeyEntry& entry)>& sink) {
  LedgerContents contents;
  const Schema expected = LedgerSchema();
  std::vector<std::string> names;
  for (const Column& column : expected.columns) {
    const std::optional<uint32_t> found = ledger.schema().Find(column.name);
    if (!found || !(ledger.schema().columns[*found].type == column.type)) {
      return Corrupt(Message("column {} is missing", column.name));
    }
    names.push_back(column.name);
  }
  LW_RETURN_IF_ERROR(
      ledger.Scan(names, [&](const Rows& rows, std::span<const RowAddress> addresses) -> Status {
        for (uint64_t row = 0; row < rows.size(); ++row) {
          const uint8_t kind = rows.columns[kKind].Fixed<uint8_t>(row);
          if (kind == kKeyRow) {
            LW_RETURN_IF_ERROR(ReadKeyRow(rows, row, addresses[row], contents, sink));
          } else if (kind == kCheckpointRow) {
            contents.checkpoints.insert({rows.columns[kKeyHigh].Fixed<uint64_t>(row),
                                         rows.columns[kKeyLow].Fixed<uint64_t>(row)});
          } else {
            return Corrupt(Message("unknown kind {}", kind));
          }
        }
        return Ok{};
      }));
  return contents;
}

Result<std::vector<StoredCheckpoint>> OldestCheckpoints(Dataset& ledger, uint64_t count) {
  const Schema schema = LedgerSchema();
  const std::vector<std::string> names = {schema.columns[kKind].name, schema.columns[kKeyHigh].name,
                                          schema.columns[kKeyLow].name, schema.columns[kHi].name};
  std::vector<std::pair<uint64_t, StoredCheckpoint>> found;  // by version
  LW_RETURN_IF_ERROR(
      ledger.Scan(names, [&](const Rows& rows, std::span<const RowAddress> addresses) -> Status {
        for (uint64_t row = 0; row < rows.size(); ++row) {
          if (rows.columns[0].Fixed<uint8_t>(row) != kCheckpointRow) continue;
          const KeyHash id = {rows.columns[1].Fixed<uint64_t>(row),
                              rows.columns[2].Fixed<uint64_t>(row)};
          found.push_back({rows.columns[3].Fixed<uint64_t>(row), {id, addresses[row]}});
        }
        return Ok{};
      }));
  count = std::min<uint64_t>(count, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<ptrdiff_t>(count), found.end());
  std::vector<StoredCheckpoint> oldest;
  for (uint64_t i = 0; i < count; ++i) oldest.push_back(found[i].second);
  return oldest;
}

Status ScanLedgerKeys(Dataset& ledger, const StoredRows::KeyVisit& visit) {
  const std::vector<std::string> names = {"kind", "key_high", "key_low", "key"};
  return ledger.Scan(names, [&](const Rows& rows, std::span<const RowAddress>) -> Status {
    for (uint64_t row = 0; row < rows.size(); ++row) {
      if (rows.columns[kKind].Fixed<uint8_t>(row) != kKeyRow) continue;
      visit(
          {rows.columns[kKeyHigh].Fixed<uint64_t>(row), rows.columns[kKeyLow].Fixed<uint64_t>(row)},
          rows.columns[kKey].Bytes(row));
    }
    return Ok{};
  });
}

Result<uint64_t> ScanLedgerAddresses(
    Dataset& ledger, std::span<const uint64_t> fragments,
    const std::function<Status(const KeyHash& key, RowAddress address)>& visit) {
  const Schema schema = LedgerSchema();
  const std::vector<std::string> names = {schema.columns[kKind].name, schema.columns[kKeyHigh].name,
                                          schema.columns[kKeyLow].name};
  uint64_t checkpoints = 0;
  LW_RETURN_IF_ERROR(ledger.ScanFragments(
      names, fragments, [&](const Rows& rows, std::span<const RowAddress> addresses) -> Status {
        for (uint64_t row = 0; row < rows.size(); ++row) {
          if (rows.columns[0].Fixed<uint8_t>(row) == kCheckpointRow) {
            ++checkpoints;
            continue;
          }
          const KeyHash key = {rows.columns[1].Fixed<uint64_t>(row),
                               rows.columns[2].Fixed<uint64_t>(row)};
          LW_RETURN_IF_ERROR(visit(key, addresses[row]));
        }
        return Ok{};
      }));
  return checkpoints;
}

}  // namespace lastword
