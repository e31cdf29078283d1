#include "commit/lance_storage.h"

#include "commit/memory_shares.h"

namespace lastword {
namespace {

class LanceStorage final : public Storage {
 public:
  explicit LanceStorage(const TableOptions& options) {
    x_options.fsync = options.fsync;
    x_options.storage_version = options.storage_version;
    x_options.cache_bytes = SharesOf(options.memory_bytes_max).lance_cache;
  }
  Result<std::unique_ptr<Dataset>> OpenDataset(const std::string& uri) override {
    return lance::OpenDataset(uri, x_options);
  }
  Result<std::unique_ptr<Dataset>> CreateDataset(const std::string& uri, const Schema& schema,
                                                 const Properties& properties) override {
    return lance::CreateDataset(uri, schema, properties, x_options);
  }

 private:
  DatasetOptions x_options;
};

}  // namespace

std::unique_ptr<Storage> MakeLanceStorage(const TableOptions& options) {
  return std::make_unique<LanceStorage>(options);
}

}  // namespace lastword
