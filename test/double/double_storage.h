// The storage of a table's two datasets, in memory.
#pragma once

#include <memory>
#include <string>

#include "commit/table_impl.h"
#include "test/double/memory_dataset.h"

namespace lastword {

class DoubleStorage final : public Storage {
 public:
  /// `store` outlives the storage.
  explicit DoubleStorage(MemoryStore& store) : x_store(store) {}

  Result<std::unique_ptr<Dataset>> OpenDataset(const std::string& uri) override {
    return x_store.Open(uri);
  }
  Result<std::unique_ptr<Dataset>> CreateDataset(const std::string& uri, const Schema& schema,
                                                 const Properties& properties) override {
    return x_store.Create(uri, schema, properties);
  }

 private:
  MemoryStore& x_store;
};

}  // namespace lastword
