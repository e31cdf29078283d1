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
// Their hashes, bytes and entries stay in the processor's first cache.
constexpr size_t kRowsAtATime = 256;

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
  return Hash(rows, 0, hashes);
}

Status KeyHasher::Hash(const Rows& rows, uint64_t row, std::span<KeyHash> hashes) {
  const ColumnData& first = rows.columns[0];
  if (x_schema.key.size() == 1 && first.null_count() == 0) {
    // Most keys: nothing to refuse.
    HashParts(first, row, hashes);
    return Ok{};
  }
  for (KeyHash& hash : hashes) {
    x_bytes.clear();
    LW_RETURN_IF_ERROR(AppendKey(x_schema, rows, row++, x_bytes));
    hash = Hash128(x_bytes);
  }
  return Ok{};
}

void KeyHasher::HashParts(const ColumnData& column, uint64_t row, std::span<KeyHash> hashes) {
  const size_t at_a_time = CanonicalWidth(column.type()) == 0 ? 1 : kRowsAtATime;
  for (size_t at = 0; at < hashes.size(); at += at_a_time) {
    const size_t count = std::min(at_a_time, hashes.size() - at);
    x_parts.Truncate(0);
    AppendCanonicalParts(column, row + at, count, x_parts);
    Hash128Each(x_parts.view(), count, &hashes[at]);
  }
}

unsigned ScanThreads() {
  return std::clamp(std::thread::hardware_concurrency(), 1u, kThreadsMax);
}

Status ScanLiveEntries(Dataset& table, const EntrySink& sink) {
  const KeyColumns keys(table.schema());
  const std::vector<std::string> versions(kVersionColumns.begin(), kVersionColumns.end());
  const auto give = [&](const ScanPiece& piece) -> Status {
    KeyHasher hasher(keys.schema);
    std::array<KeyHash, kRowsAtATime> hashes;
    std::array<KeyEntry, kRowsAtATime> entries;
    for (size_t row = 0; row < piece.addresses.size(); row += kRowsAtATime) {
      const size_t count = std::min(kRowsAtATime, piece.addresses.size() - row);
      LW_RETURN_IF_ERROR(hasher.Hash(piece.rows, row, std::span(hashes).first(count)));
      for (size_t i = 0; i < count; ++i) entries[i] = EntryAt(hashes[i], piece, row + i);
      LW_RETURN_IF_ERROR(sink(std::span(entries).first(count)));
    }
    return Ok{};
  };
  return table.ScanUnordered(keys.names, versions, ScanThreads(), give);
}

}  // namespace lastword
