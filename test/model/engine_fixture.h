// One table through the whole engine (open, apply, commit, open again) over any storage.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commit/table_impl.h"
#include "model/test_change.h"

namespace lastword {

class EngineFixture {
 public:
  /// `storage` outlives the fixture. The schema of `options` is TestSchema.
  EngineFixture(std::string uri, TableOptions options, Storage& storage);

  /// A new process.
  Status Open();
  /// One batch of one input.
  Result<std::vector<Outcome>> Apply(const std::vector<TestChange>& changes);
  Result<CommitResult> Commit(const std::string& id = {});

  using TableRow = std::pair<std::optional<std::string>, std::optional<std::string>>;
  /// Committed visible rows; kStorageCorrupt where a key is there twice.
  Result<std::map<int64_t, TableRow>> Table();
  TableImpl& table() { return *x_table; }

 private:
  const std::string x_uri;
  TableOptions x_options;
  Storage& x_storage;
  std::unique_ptr<TableImpl> x_table;
  uint64_t x_offset = 0;
};

}  // namespace lastword
