// What the key index needs of every live row: the hash of its key, its version and its place. Read
// from storage on several threads, because opening a table waits for it. Reads key and version
// columns only.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/byte_buffer.h"
#include "lance/dataset.h"
#include "state/key_entry.h"

namespace lastword {

/// The key columns of a stored table, by themselves.
struct KeyColumns {
  explicit KeyColumns(const Schema& stored);
  Schema schema;
  std::vector<std::string> names;
};

/// Hash128 of what AppendKey gives, for many rows at a time. One thread.
class KeyHasher {
 public:
  /// `schema`: key columns only, and must outlive this object.
  explicit KeyHasher(const Schema& schema) : x_schema(schema) {}
  /// Puts the hash of each row of `rows`, which are of `schema`, into `hashes`.
  Status Hash(const Rows& rows, std::vector<KeyHash>& hashes);
  /// The same of as many rows as `hashes` has places, from `row` on.
  Status Hash(const Rows& rows, uint64_t row, std::span<KeyHash> hashes);

 private:
  void HashParts(const ColumnData& column, uint64_t row, std::span<KeyHash> hashes);

  const Schema& x_schema;
  std::string x_bytes;
  ByteBuffer x_parts;
};

/// Threads that read storage side by side: as many as the machine has cores, up to a bound.
unsigned ScanThreads();

/// Calls `sink` once for each live row, in batches in any order, on ScanThreads() threads. Errors
/// of the sink end the scan and come back.
using EntrySink = std::function<Status(std::span<const KeyEntry> entries)>;
Status ScanLiveEntries(Dataset& table, const EntrySink& sink);

}  // namespace lastword
