#include "commit/key_scan.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "model/canonical.h"
#include "model/key.h"
#include "model/version_columns.h"

namespace lastword {
namespace {

// More would only hold memory: storage is read by threads of its own.
constexpr unsigned kThreadsMax = 16;

// The bytes of the version columns, in the order of kVersionColumns.
template <typename T>
T ValueAt(const void* values, size_t row) {
  T value;
  std::memcpy(&value, static_cast<const char*>(values) + row * sizeof(T), sizeof(T));
  return value;
}

KeyEntry EntryAt(const KeyHash& key, const ScanPiece& piece, size_t row) {
  KeyEntry entry;
  entry.key = key;
  entry.status = KeyStatus::kLive;
  entry.epoch = ValueAt<uint32_t>(piece.lent[0], row);
  entry.hi = ValueAt<uint64_t>(piece.lent[1], row);
  entry.mid = ValueAt<uint64_t>(piece.lent[2], row);
  entry.lo = ValueAt<uint64_t>(piece.lent[3], row);
  entry.digest = ValueAt<uint64_t>(piece.lent[4], row);
  entry.address = piece.addresses[row];
  return entry;
}

}  // namespace

KeyColumns::KeyColumns(const Schema& stored) {
  for (const uint32_t key : stored.key) {
    schema.key.push_back(static_cast<uint32_t>(schema.columns.size()));
    schema.columns.push_back(stored.columns[key]);
    names.push_back(stored.columns[key].name);
  }
  schema.nullable_key = stored.nullable_key;
}

Status KeyHasher::Hash(const Rows& rows, std::vector<KeyHash>& hashes) {
  hashes.resize(rows.size());
  const ColumnData& first = rows.columns[0];
  if (x_schema.key.size() == 1 && first.null_count() == 0) {
    // Most keys: nothing to refuse, and no bytes to put together.
    for (uint64_t row = 0; row < rows.size(); ++row) {
      x_part.Truncate(0);
      AppendCanonicalPart(first, row, x_part);
      hashes[row] = Hash128(x_part.view());
    }
    return Ok{};
  }
  for (uint64_t row = 0; row < rows.size(); ++row) {
    x_bytes.clear();
    LW_RETURN_IF_ERROR(AppendKey(x_schema, rows, row, x_bytes));
    hashes[row] = Hash128(x_bytes);
  }
  return Ok{};
}

Status ScanLiveEntries(Dataset& table, const EntrySink& sink) {
  const KeyColumns keys(table.schema());
  const std::vector<std::string> versions(kVersionColumns.begin(), kVersionColumns.end());
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, kThreadsMax);
  return table.ScanUnordered(keys.names, versions, threads, [&](const ScanPiece& piece) -> Status {
    std::vector<KeyHash> hashes;
    LW_RETURN_IF_ERROR(KeyHasher(keys.schema).Hash(piece.rows, hashes));
    std::vector<KeyEntry> entries;
    entries.reserve(hashes.size());
    for (size_t row = 0; row < hashes.size(); ++row) {
      entries.push_back(EntryAt(hashes[row], piece, row));
    }
    return sink(entries);
  });
}

}  // namespace lastword
