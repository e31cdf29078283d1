#include "commit/engine.h"

namespace lastword {
namespace {

// Lance's own caches get a small part: the engine keeps what it needs itself.
constexpr uint64_t kCacheShare = 16;

class LanceStorage final : public Storage {
 public:
  explicit LanceStorage(const TableOptions& options) {
    x_options.fsync = options.fsync;
    x_options.storage_version = options.storage_version;
    x_options.cache_bytes = options.memory_bytes_max / kCacheShare;
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
