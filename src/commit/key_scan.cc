#include "commit/key_scan.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "model/key.h"
#include "model/version_columns.h"

namespace lastword {
namespace {

// More would only hold memory: storage is read by threads of its own.
constexpr unsigned kThreadsMax = 16;

// A key of one integer column without NULLs, as AppendKey writes it.
template <typename T>
void HashIntegers(const ColumnData& column, std::vector<KeyHash>& hashes) {
  char bytes[2 + sizeof(int64_t)] = {1, 'i'};
  for (uint64_t row = 0; row < column.size(); ++row) {
    const int64_t value = column.Fixed<T>(row);
    std::memcpy(bytes + 2, &value, sizeof(value));
    hashes[row] = Hash128({bytes, sizeof(bytes)});
  }
}

// The same of one text column.
void HashTexts(const ColumnData& column, std::string& bytes, std::vector<KeyHash>& hashes) {
  constexpr size_t kBegin = 2 + sizeof(uint32_t);
  for (uint64_t row = 0; row < column.size(); ++row) {
    const std::string_view text = column.Bytes(row);
    const auto size = static_cast<uint32_t>(text.size());
    bytes.resize(std::max(bytes.size(), kBegin + text.size()));
    bytes[0] = 1;
    bytes[1] = 's';
    std::memcpy(bytes.data() + 2, &size, sizeof(size));
    if (size != 0) std::memcpy(bytes.data() + kBegin, text.data(), text.size());
    hashes[row] = Hash128(std::string_view(bytes).substr(0, kBegin + text.size()));
  }
}

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
    switch (first.type().kind) {
      case TypeKind::kInt32:
        HashIntegers<int32_t>(first, hashes);
        return Ok{};
      case TypeKind::kInt64:
        HashIntegers<int64_t>(first, hashes);
        return Ok{};
      case TypeKind::kString:
        HashTexts(first, x_bytes, hashes);
        return Ok{};
      default:
        break;
    }
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
