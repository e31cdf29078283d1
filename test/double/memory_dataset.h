// Datasets in memory with the contract of lance/dataset.h, for tests that need thousands of tables
// or a storage that fails on demand. Every open of one uri of one MemoryStore sees the same
// versions, so closing and opening is a restart.
//
// Faults come from a script that is asked before each call that would change a dataset. Foreign
// actions are what another writer does to the same dataset: they carry no properties and are never
// asked about.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "lance/dataset.h"

namespace lastword {

enum class Fault : uint8_t {
  kNone,
  kFailBefore,           // kStorageUnavailable; nothing happened
  kDiskFull,             // kStorageFull; nothing happened
  kConflict,             // another writer's empty commit takes the version first: kCommitConflict
  kUnknownAndCommitted,  // the commit happened and kCommitStateUnknown is reported
  kUnknownAndLost,       // kCommitStateUnknown is reported; nothing happened
  kCrashBefore,          // the process dies: nothing happened, every call fails until Reboot
  kCrashAfter,           // the same, but the commit happened
};

/// A call that is about to change a dataset.
struct StorageCall {
  enum class Kind : uint8_t {
    kCreate,
    kCommit,
    kAddColumns,
    kWiden,
    kCompact,
    kRestore,
    kCreateIndex,
    kExtendIndex,
    kCleanup
  };
  Kind kind = Kind::kCommit;
  std::string uri;
  uint64_t number = 0;  // counted from 1 over the whole store
};

/// Asked without any lock held: it may use the store, for instance for a foreign action.
using FaultScript = std::function<Fault(const StorageCall& call)>;

/// The rows of one fragment; shared by all versions that have it.
struct MemoryFragment {
  uint64_t id = 0;
  std::shared_ptr<const Rows> rows;  // may lack columns that were added later: NULL
  std::shared_ptr<const std::set<uint32_t>> deleted;
};

struct MemoryVersion {
  Schema schema;
  std::vector<MemoryFragment> fragments;              // ascending ids
  uint64_t next_fragment = 0;                         // ids are never used twice
  std::vector<Index> indexes;                         // their existence only
  std::map<std::string, std::set<uint64_t>> indexed;  // name -> fragments that it covers
  VersionInfo info;
};

/// Thread-safe; the datasets that it opens are used by one thread at a time.
class MemoryStore {
 public:
  Result<std::unique_ptr<Dataset>> Open(const std::string& uri);  // null = none there
  Result<std::unique_ptr<Dataset>> Create(const std::string& uri, const Schema& schema,
                                          const Properties& properties);
  /// Forgets a dataset, as if somebody had deleted its folder.
  void Drop(const std::string& uri);

  void SetFaults(FaultScript script);
  /// The calls that change something so far; the next one has this number plus 1.
  uint64_t calls() const;
  bool crashed() const;
  /// Ends a crash. Datasets opened before it stay dead.
  void Reboot();

  /// Rows per fragment of commits and compactions at most.
  void SetFragmentRowsMax(uint64_t rows) { x_fragment_rows_max = rows; }
  /// A compaction is waited for so many times in vain, but by who waits for hours.
  void SetCompactionWaits(uint64_t waits) { x_compaction_waits = waits; }

  // What another writer does at the latest version.
  Status ForeignCompact(const std::string& uri);  // all fragments into one
  Status ForeignCommit(const std::string& uri, const Rows& new_rows,
                       const std::vector<RowAddress>& deleted);
  Status ForeignAddColumn(const std::string& uri, const Column& column);

 private:
  friend class MemoryDataset;
  using Versions = std::map<uint64_t, std::shared_ptr<const MemoryVersion>>;
  using Change = std::function<Status(MemoryVersion& next)>;

  /// Publishes what `change` makes of version `expected`, or nothing; asks the script unless
  /// foreign.
  Result<std::shared_ptr<const MemoryVersion>> Step(StorageCall::Kind kind, const std::string& uri,
                                                    uint64_t expected, bool is_foreign,
                                                    const Change& change);
  Result<std::shared_ptr<const MemoryVersion>> Publish(const std::string& uri, uint64_t expected,
                                                       const Change& change);
  Fault Ask(StorageCall::Kind kind, const std::string& uri);
  Status CheckAlive(uint64_t incarnation) const;
  std::shared_ptr<const MemoryVersion> LatestOf(const std::string& uri) const;
  /// The versions of `uri`; a copy.
  Versions VersionsOf(const std::string& uri) const;

  mutable std::mutex x_mutex;
  std::map<std::string, Versions> x_datasets;
  FaultScript x_script;
  uint64_t x_calls = 0;
  uint64_t x_incarnation = 1;
  uint64_t x_fragment_rows_max = 1 << 20;
  uint64_t x_compaction_waits = 0;
  uint64_t x_transactions = 0;
  bool x_crashed = false;
};

/// A script that answers `fault` to call number `number` and nothing to the others.
FaultScript FaultAt(uint64_t number, Fault fault);

}  // namespace lastword
