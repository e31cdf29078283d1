#include "commit/key_scan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "model/canonical.h"
#include "model/key.h"
#include "model/version_columns.h"

namespace lastword {
namespace {

// More would only hold memory: storage is read by threads of its own.
constexpr unsigned kThreadsMax = 16;
// Entries that a sink gets at a time: they stay in the processor's first cache.
constexpr size_t kSinkEntries = 256;
constexpr size_t kParts = 256;  // of keys that are hashed at a time

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
    // Most keys: nothing to refuse.
    HashParts(first, hashes);
    return Ok{};
  }
  for (uint64_t row = 0; row < rows.size(); ++row) {
    x_bytes.clear();
    LW_RETURN_IF_ERROR(AppendKey(x_schema, rows, row, x_bytes));
    hashes[row] = Hash128(x_bytes);
  }
  return Ok{};
}

void KeyHasher::HashParts(const ColumnData& column, std::vector<KeyHash>& hashes) {
  const uint32_t width = CanonicalWidth(column.type());
  const size_t at_a_time = width == 0 ? 1 : kParts;
  for (size_t row = 0; row < hashes.size(); row += at_a_time) {
    const size_t count = std::min(at_a_time, hashes.size() - row);
    x_parts.Truncate(0);
    AppendCanonicalParts(column, row, count, x_parts);
    Hash128Each(x_parts.view(), count, &hashes[row]);
  }
}

unsigned ScanThreads() {
  return std::clamp(std::thread::hardware_concurrency(), 1u, kThreadsMax);
}

Status ScanLiveEntries(Dataset& table, const EntrySink& sink) {
  const KeyColumns keys(table.schema());
  const std::vector<std::string> versions(kVersionColumns.begin(), kVersionColumns.end());
  const auto give = [&](const ScanPiece& piece) -> Status {
    std::vector<KeyHash> hashes;
    LW_RETURN_IF_ERROR(KeyHasher(keys.schema).Hash(piece.rows, hashes));
    std::array<KeyEntry, kSinkEntries> entries;
    for (size_t row = 0; row < hashes.size();) {
      const size_t count = std::min(kSinkEntries, hashes.size() - row);
      for (size_t i = 0; i < count; ++i, ++row) entries[i] = EntryAt(hashes[row], piece, row);
      LW_RETURN_IF_ERROR(sink(std::span(entries).first(count)));
    }
    return Ok{};
  };
  return table.ScanUnordered(keys.names, versions, ScanThreads(), give);
}

}  // namespace lastword
