// What claims the contract of dataset.h, and what its tests stand on: the double in memory and,
// where it is linked, Lance itself.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "lance/dataset.h"
#include "lastword/value.h"
#include "test/double/memory_dataset.h"
#include "test/status_matchers.h"

namespace lastword {

class Backend {
 public:
  virtual ~Backend() = default;
  virtual Result<std::unique_ptr<Dataset>> Open() = 0;
  virtual Result<std::unique_ptr<Dataset>> Create(const Schema& schema,
                                                  const Properties& properties) = 0;
};

class MemoryBackend : public Backend {
 public:
  Result<std::unique_ptr<Dataset>> Open() override { return x_store.Open("table"); }
  Result<std::unique_ptr<Dataset>> Create(const Schema& schema,
                                          const Properties& properties) override {
    return x_store.Create("table", schema, properties);
  }

 private:
  MemoryStore x_store;
};

#ifdef LW_WITH_LANCE
class LanceBackend : public Backend {
 public:
  explicit LanceBackend(bool fsync)
      : x_folder(testing::TempDir() + "lance_contract_" + RandomId()), x_options{.fsync = fsync} {}
  ~LanceBackend() override { std::filesystem::remove_all(x_folder); }
  Result<std::unique_ptr<Dataset>> Open() override { return lance::OpenDataset(Uri(), x_options); }
  Result<std::unique_ptr<Dataset>> Create(const Schema& schema,
                                          const Properties& properties) override {
    return lance::CreateDataset(Uri(), schema, properties, x_options);
  }

 private:
  std::string Uri() const { return x_folder + "/new/table.lance"; }
  const std::string x_folder;
  const DatasetOptions x_options;
};
#endif

struct BackendCase {
  const char* name;
  std::unique_ptr<Backend> (*make)();
};

constexpr BackendCase kBackends[] = {
    {"memory", [] { return std::unique_ptr<Backend>(std::make_unique<MemoryBackend>()); }},
#ifdef LW_WITH_LANCE
    {"lance", [] { return std::unique_ptr<Backend>(std::make_unique<LanceBackend>(false)); }},
    {"lance_fsync", [] { return std::unique_ptr<Backend>(std::make_unique<LanceBackend>(true)); }},
#endif
};

inline Type TypeOf(const char* text) {
  Result<Type> type = ParseType(text);
  EXPECT_THAT(type, IsOk());
  return *type;
}

inline Schema KeyAndText() {
  return Schema{.columns = {{.name = "id", .type = TypeOf("int64"), .nullable = false},
                            {.name = "text", .type = TypeOf("string")}},
                .key = {0},
                .nullable_key = {false}};
}

class DatasetContractTest : public testing::TestWithParam<BackendCase> {
 protected:
  void SetUp() override {
    x_backend = GetParam().make();
    Result<std::unique_ptr<Dataset>> created = x_backend->Create(KeyAndText(), {{"made", "yes"}});
    ASSERT_THAT(created, IsOk());
    x_dataset = std::move(*created);
  }

  Rows RowsOf(int64_t first, int64_t count) {
    Rows rows(x_dataset->schema());
    for (int64_t id = first; id < first + count; ++id) {
      rows.columns[0].AppendFixed(id);
      rows.columns[1].AppendBytes(Message("row {}", id));
      for (size_t i = 2; i < rows.columns.size(); ++i) rows.columns[i].AppendNull();
    }
    return rows;
  }

  Result<CommitReceipt> Commit(const Rows& rows, const std::vector<RowAddress>& deleted = {},
                               const Properties& properties = {}) {
    return x_dataset->Commit({.expected_version = x_dataset->version(),
                              .new_rows = &rows,
                              .deleted = deleted,
                              .properties = properties,
                              .transaction_id = RandomId()});
  }

  std::unique_ptr<Dataset> OpenAgain() {
    Result<std::unique_ptr<Dataset>> opened = x_backend->Open();
    EXPECT_THAT(opened, IsOk());
    return std::move(*opened);
  }

  // Ids by address, as a scan of one dataset gives them.
  static std::map<RowAddress, int64_t> Scan(Dataset& dataset) {
    std::map<RowAddress, int64_t> found;
    std::optional<RowAddress> last;
    const Status status = dataset.Scan({"id"}, [&](const Rows& rows, auto addresses) -> Status {
      EXPECT_EQ(rows.columns.size(), 1u);
      for (uint64_t row = 0; row < rows.size(); ++row) {
        EXPECT_TRUE(!last || *last < addresses[row]) << "not in address order";
        last = addresses[row];
        found[addresses[row]] = rows.columns[0].Fixed<int64_t>(row);
      }
      return Ok{};
    });
    EXPECT_THAT(status, IsOk());
    return found;
  }

  std::unique_ptr<Backend> x_backend;
  std::unique_ptr<Dataset> x_dataset;
};

}  // namespace lastword
