#include "state/rocks_index.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>
#include <atomic>

#include "base/bytes.h"
#include "base/format.h"

namespace lastword {
namespace {

constexpr const char* kMarkKey = "m";
constexpr const char* kFormat = "1 ";
constexpr const char* kRunPrefix = "run-";
constexpr size_t kKeyBytes = 16;
constexpr uint8_t kHasExtra = 0x80;
constexpr uint64_t kBatchBytes = 1 << 20;
constexpr int kFilterBitsPerKey = 10;  // 1 % of the absent keys cost a read
constexpr uint64_t kBlockBytes = 4 << 10;
// Of the memory, for entries on their way to a file: three buffers, one filling.
constexpr uint64_t kBuffersShare = 4;
constexpr uint64_t kBuffers = 3;
constexpr uint64_t kBufferBytesMax = 64 << 20;
constexpr uint64_t kFileBytes = 64 << 20;

Error FromRocks(std::string_view what, const std::string& folder, const rocksdb::Status& status) {
  const ErrorKind kind =
      status.IsNoSpace() ? ErrorKind::kStorageFull : ErrorKind::kStorageUnavailable;
  return Error{kind,
               Message("cannot {} the key index in {}: {}. It is a cache and is built anew at the "
                       "next start",
                       what, folder, status.ToString()),
               {}};
}

void AppendBigEndian(uint64_t value, char* to) {
  for (int i = 7; i >= 0; --i, value >>= 8) to[i] = static_cast<char>(value);
}

uint64_t ReadBigEndian(const char* from) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | static_cast<uint8_t>(from[i]);
  return value;
}

struct StoredKey {
  char bytes[kKeyBytes];
  explicit StoredKey(const KeyHash& key) {
    AppendBigEndian(key.high, bytes);
    AppendBigEndian(key.low, bytes + 8);
  }
  rocksdb::Slice slice() const { return {bytes, kKeyBytes}; }
};

void AppendVarint(uint64_t value, std::string& to) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

void AppendValue(const KeyEntry& entry, std::string& to) {
  const uint8_t status = static_cast<uint8_t>(entry.status);
  to.push_back(static_cast<char>(entry.has_extra ? status | kHasExtra : status));
  char digest[8];
  AppendBigEndian(entry.digest, digest);
  to.append(digest, sizeof(digest));
  // kNoAddress becomes zero: one byte, not ten.
  for (const uint64_t value : {entry.hi, entry.mid, entry.lo, uint64_t{entry.epoch},
                               entry.address + 1, uint64_t{entry.delete_input}}) {
    AppendVarint(value, to);
  }
}

bool ReadVarint(rocksdb::Slice& from, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(from[0]);
    from.remove_prefix(1);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool ReadValue(rocksdb::Slice from, KeyEntry& entry) {
  if (from.size() < 9) return false;
  const auto status = static_cast<uint8_t>(from[0]);
  entry.status = static_cast<KeyStatus>(status & ~kHasExtra);
  entry.has_extra = (status & kHasExtra) != 0;
  entry.digest = ReadBigEndian(from.data() + 1);
  from.remove_prefix(9);
  uint64_t epoch = 0, address = 0, delete_input = 0;
  for (uint64_t* value : {&entry.hi, &entry.mid, &entry.lo, &epoch, &address, &delete_input}) {
    if (!ReadVarint(from, *value)) return false;
  }
  entry.epoch = static_cast<uint32_t>(epoch);
  entry.address = address - 1;
  entry.delete_input = static_cast<uint16_t>(delete_input);
  return from.empty();
}

rocksdb::Options OptionsFor(uint64_t memory_bytes, std::shared_ptr<rocksdb::Cache> cache) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;  // hashes and digests are noise
  options.max_background_jobs = 2;
  options.info_log_level = rocksdb::InfoLogLevel::ERROR_LEVEL;
  options.keep_log_file_num = 1;
  const uint64_t buffers = memory_bytes / kBuffersShare;
  options.write_buffer_size = std::min(kBufferBytesMax, buffers / kBuffers);
  options.max_write_buffer_number = kBuffers;
  // Write buffers are charged to the cache: one figure bounds both.
  options.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(buffers, cache);
  options.target_file_size_base = kFileBytes;
  options.level_compaction_dynamic_level_bytes = true;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = std::move(cache);
  table.block_size = kBlockBytes;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBitsPerKey));
  table.cache_index_and_filter_blocks = true;
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.format_version = 5;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

rocksdb::WriteOptions WriteUnlogged() {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  return options;
}

}  // namespace

struct RocksIndex::Parts {
  std::string folder;
  std::shared_ptr<rocksdb::Cache> cache;
  rocksdb::Options options;
  std::unique_ptr<rocksdb::DB> db;
  rocksdb::WriteBatch batch;  // what Store and Erase have not handed over yet
  std::string value;          // of one entry on its way
  std::atomic<uint64_t> runs = 0;
  bool marked = false;
  bool read_only = false;
  std::optional<Error> error;
  // What Prefetch read: good until the next change.
  std::unordered_map<KeyHash, std::optional<KeyEntry>, KeyHashHasher> ahead;
  std::vector<KeyHash> ahead_keys;

  Parts(std::string place, uint64_t memory_bytes)
      : folder(std::move(place)),
        cache(rocksdb::NewLRUCache(memory_bytes)),
        options(OptionsFor(memory_bytes, cache)) {}
};

RocksIndex::RocksIndex(std::unique_ptr<Parts> parts) : x_parts(std::move(parts)) {}

RocksIndex::~RocksIndex() {
  Flush();
}

Result<std::unique_ptr<RocksIndex>> RocksIndex::Create(const std::string& folder,
                                                       uint64_t memory_bytes) {
  LW_RETURN_IF_ERROR(Remove(folder));
  auto parts = std::make_unique<Parts>(folder, memory_bytes);
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(parts->options, folder, &db);
  if (!opened.ok()) return FromRocks("create", folder, opened);
  parts->db.reset(db);
  return std::unique_ptr<RocksIndex>(new RocksIndex(std::move(parts)));
}

std::unique_ptr<RocksIndex> RocksIndex::Open(const std::string& folder, uint64_t memory_bytes,
                                             const std::string& identity, bool read_only) {
  auto parts = std::make_unique<Parts>(folder, memory_bytes);
  parts->options.create_if_missing = false;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened = read_only
                                     ? rocksdb::DB::OpenForReadOnly(parts->options, folder, &db)
                                     : rocksdb::DB::Open(parts->options, folder, &db);
  if (!opened.ok()) return nullptr;
  parts->db.reset(db);
  std::string mark;
  const rocksdb::Status got = db->Get({}, kMarkKey, &mark);
  if (!got.ok() || mark != kFormat + identity) return nullptr;
  parts->marked = true;
  parts->read_only = read_only;
  return std::unique_ptr<RocksIndex>(new RocksIndex(std::move(parts)));
}

Status RocksIndex::Remove(const std::string& folder) {
  const rocksdb::Status removed = rocksdb::DestroyDB(folder, rocksdb::Options());
  if (!removed.ok()) return FromRocks("remove", folder, removed);
  // Runs that were not taken over are no files of the database.
  rocksdb::Env* files = rocksdb::Env::Default();
  std::vector<std::string> left;
  if (!files->GetChildren(folder, &left).ok()) return Ok{};
  for (const std::string& name : left) {
    if (!rocksdb::Slice(name).starts_with(kRunPrefix)) continue;
    const rocksdb::Status deleted = files->DeleteFile(folder + "/" + name);
    if (!deleted.ok()) return FromRocks("remove", folder, deleted);
  }
  return Ok{};
}

void RocksIndex::Fail(Error error) const {
  if (!x_parts->error) x_parts->error = std::move(error);
}

Status RocksIndex::Health() const {
  if (x_parts->error) return *x_parts->error;
  return Ok{};
}

void RocksIndex::Flush() const {
  if (x_parts->batch.Count() == 0) return;
  const rocksdb::Status written = x_parts->db->Write(WriteUnlogged(), &x_parts->batch);
  x_parts->batch.Clear();
  if (!written.ok()) Fail(FromRocks("write", x_parts->folder, written));
}

bool RocksIndex::Find(const KeyHash& key, KeyEntry& entry) const {
  if (x_parts->error) return false;
  if (!x_parts->ahead.empty()) {
    const auto known = x_parts->ahead.find(key);
    if (known != x_parts->ahead.end()) {
      if (known->second) entry = *known->second;
      return known->second.has_value();
    }
  }
  Flush();
  rocksdb::PinnableSlice value;
  const rocksdb::Status got =
      x_parts->db->Get({}, x_parts->db->DefaultColumnFamily(), StoredKey(key).slice(), &value);
  if (got.IsNotFound()) return false;
  if (!got.ok() || !ReadValue(value, entry)) {
    Fail(FromRocks("read", x_parts->folder,
                   got.ok() ? rocksdb::Status::Corruption("unreadable entry") : got));
    return false;
  }
  entry.key = key;
  return true;
}

void RocksIndex::Prefetch(std::span<const KeyHash> keys) const {
  Flush();
  x_parts->ahead.clear();
  if (x_parts->error || keys.empty()) return;
  // Sorted, neighbours share a block; a key that comes twice is asked for once.
  std::vector<KeyHash>& sorted = x_parts->ahead_keys;
  sorted.assign(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<StoredKey> stored(sorted.begin(), sorted.end());
  std::vector<rocksdb::Slice> slices;
  slices.reserve(sorted.size());
  for (const StoredKey& key : stored) slices.push_back(key.slice());
  std::vector<rocksdb::PinnableSlice> values(sorted.size());
  std::vector<rocksdb::Status> got(sorted.size());
  x_parts->db->MultiGet({}, x_parts->db->DefaultColumnFamily(), sorted.size(), slices.data(),
                        values.data(), got.data(), /*sorted_input=*/true);
  for (size_t i = 0; i < sorted.size(); ++i) {
    std::optional<KeyEntry> entry;
    if (got[i].ok() && ReadValue(values[i], entry.emplace())) {
      entry->key = sorted[i];
    } else if (!got[i].IsNotFound()) {
      continue;  // the Find of this key meets the error again
    }
    x_parts->ahead.emplace(sorted[i], entry);
  }
}

void RocksIndex::Store(const KeyEntry& entry) {
  Parts& parts = *x_parts;
  parts.ahead.clear();
  if (parts.marked) parts.batch.Delete(kMarkKey);
  parts.marked = false;
  parts.value.clear();
  AppendValue(entry, parts.value);
  parts.batch.Put(StoredKey(entry.key).slice(), parts.value);
  if (parts.batch.GetDataSize() >= kBatchBytes) Flush();
}

void RocksIndex::Erase(const KeyHash& key) {
  Parts& parts = *x_parts;
  parts.ahead.clear();
  if (parts.marked) parts.batch.Delete(kMarkKey);
  parts.marked = false;
  parts.batch.Delete(StoredKey(key).slice());
  if (parts.batch.GetDataSize() >= kBatchBytes) Flush();
}

void RocksIndex::ForEach(const std::function<void(const KeyEntry&)>& visit) const {
  Flush();
  if (x_parts->error) return;
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = kBatchBytes;
  const std::unique_ptr<rocksdb::Iterator> at(x_parts->db->NewIterator(options));
  KeyEntry entry;
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    if (at->key().size() != kKeyBytes) continue;
    entry.key = {ReadBigEndian(at->key().data()), ReadBigEndian(at->key().data() + 8)};
    if (!ReadValue(at->value(), entry)) {
      Fail(FromRocks("read", x_parts->folder, rocksdb::Status::Corruption("unreadable entry")));
      return;
    }
    visit(entry);
  }
  if (!at->status().ok()) Fail(FromRocks("read", x_parts->folder, at->status()));
}

uint64_t RocksIndex::bytes_held() const {
  uint64_t readers = 0;
  x_parts->db->GetIntProperty(rocksdb::DB::Properties::kEstimateTableReadersMem, &readers);
  return x_parts->cache->GetUsage() + readers;
}

void RocksIndex::Clear() {
  Parts& parts = *x_parts;
  parts.batch.Clear();
  parts.ahead.clear();
  parts.db.reset();
  const Status removed = Remove(parts.folder);
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(parts.options, parts.folder, &db);
  parts.db.reset(db);
  parts.marked = false;
  parts.error.reset();
  if (!removed.ok()) Fail(removed.error());
  if (!opened.ok()) Fail(FromRocks("create", parts.folder, opened));
}

Status RocksIndex::SetMark(const std::string& identity) {
  x_parts->batch.Put(kMarkKey, kFormat + identity);
  Flush();
  if (!x_parts->error) {
    const rocksdb::Status flushed = x_parts->db->Flush(rocksdb::FlushOptions());
    if (!flushed.ok()) Fail(FromRocks("write", x_parts->folder, flushed));
  }
  x_parts->marked = true;
  return Health();
}

struct RocksIndex::Run::Parts {
  std::string folder, path;
  rocksdb::SstFileWriter writer;
  std::string value;
  uint64_t count = 0;

  Parts(std::string place, std::string file, const rocksdb::Options& options)
      : folder(std::move(place)),
        path(std::move(file)),
        writer(rocksdb::EnvOptions(options), options) {}
};

RocksIndex::Run::Run(std::unique_ptr<Parts> parts) : x_parts(std::move(parts)) {}
RocksIndex::Run::~Run() = default;

Result<std::unique_ptr<RocksIndex::Run>> RocksIndex::StartRun() {
  std::string path = Message("{}/{}{}.sst", x_parts->folder, kRunPrefix, x_parts->runs++);
  auto parts = std::make_unique<Run::Parts>(x_parts->folder, std::move(path), x_parts->options);
  const rocksdb::Status opened = parts->writer.Open(parts->path);
  if (!opened.ok()) return FromRocks("write", parts->folder, opened);
  return std::unique_ptr<Run>(new Run(std::move(parts)));
}

Status RocksIndex::Run::Add(const KeyEntry& entry) {
  x_parts->value.clear();
  AppendValue(entry, x_parts->value);
  const rocksdb::Status put = x_parts->writer.Put(StoredKey(entry.key).slice(), x_parts->value);
  if (!put.ok()) return FromRocks("write", x_parts->folder, put);
  ++x_parts->count;
  return Ok{};
}

Status RocksIndex::Run::Finish() {
  if (x_parts->count == 0) return Ok{};
  const rocksdb::Status finished = x_parts->writer.Finish();
  if (!finished.ok()) return FromRocks("write", x_parts->folder, finished);
  return Ok{};
}

Status RocksIndex::Ingest(const std::vector<std::unique_ptr<Run>>& runs) {
  std::vector<std::string> paths;
  for (const auto& run : runs) {
    if (run->x_parts->count != 0) paths.push_back(run->x_parts->path);
  }
  if (paths.empty()) return Ok{};
  Flush();
  rocksdb::IngestExternalFileOptions options;
  options.move_files = true;
  options.snapshot_consistency = false;
  options.write_global_seqno = false;
  const rocksdb::Status ingested = x_parts->db->IngestExternalFile(paths, options);
  if (!ingested.ok()) Fail(FromRocks("fill", x_parts->folder, ingested));
  return Health();
}

}  // namespace lastword
