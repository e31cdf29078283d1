// What a table has committed, as its state reads it and gives it to be written: rows of the visible
// table, asked for by address, and what the ledger holds of a key. The key index says which of it
// is the newest.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "model/row_chunk.h"
#include "state/key_entry.h"
#include "state/key_extra.h"

namespace lastword {

/// What is committed: rows of the visible table, by address as of the last commit, and keys.
class StoredRows {
 public:
  using KeyVisit = std::function<void(const KeyHash& hash, std::string_view key)>;

  virtual ~StoredRows() = default;
  virtual Result<RowChunk> Take(std::span<const uint64_t> addresses) = 0;
  /// Visits every key of the visible table and of the ledger; one that is in both twice. Reads both
  /// from end to end.
  virtual Status ForEachKey(const KeyVisit& visit) = 0;
};

/// An extra as committed, with the ledger row that holds it.
struct StoredExtra {
  KeyExtra extra;
  uint64_t address = kNoAddress;
  std::string key;
};

/// One row of the ledger that belongs to a key.
struct LedgerRow {
  KeyEntry entry;  // status, version, delete_input
  std::string_view key;
  std::string extra;  // ExtraToBytes; empty = none
};

}  // namespace lastword
