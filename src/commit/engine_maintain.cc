// What a table needs between checkpoints: compaction, indexes that follow, old versions that go
// (engine_clean_up.cc). Each is a version of its own behind a commit, while no batch is pending;
// what they need to write is begun before. Whatever fails here leaves the commit as it is. The
// crash windows are in docs/commit.md.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/format.h"
#include "base/kill_points.h"
#include "base/planted_bug.h"
#include "base/random.h"
#include "commit/engine.h"
#include "commit/key_scan.h"

namespace lastword {
namespace {

// After a failure, so that a full disk is not tried at every commit.
constexpr uint64_t kRestVersions = 16;
// A look at all versions costs a list: done once in so many, whatever process made them.
constexpr uint64_t kCleanUpEveryMin = 8, kCleanUpEveryMax = 64;
// Every commit that is keyed touches the ledger's fragments rarely: it may have more of them.
constexpr uint32_t kLedgerFragmentsFactor = 2;
// An index takes new rows in when this share of all rows, and so many, are outside of it.
constexpr double kUnindexedShare = 0.2;
constexpr uint64_t kUnindexedRowsMin = 4096;
// A round that goes on beside the commits is waited for as long as the commit before took, and so
// long at least: rounds that never end in time would let fragments pile up.
constexpr std::chrono::milliseconds kPatienceMin{50};
// Product quantization learns 256 centres.
constexpr uint64_t kVectorRowsMin = 256;
// Keys whose addresses move, looked up together: their lines stay in the nearest cache.
constexpr size_t kKeysAhead = 256;

CompactionPolicy TablePolicy(const TableOptions& options) {
  CompactionPolicy policy;
  policy.fragments = options.compaction_fragments;
  return policy;
}

CompactionPolicy LedgerPolicy(const TableOptions& options) {
  CompactionPolicy policy = TablePolicy(options);
  policy.fragments = options.compaction_fragments * kLedgerFragmentsFactor;
  return policy;
}

std::vector<uint64_t> IdsOf(const std::vector<Fragment>& fragments) {
  std::vector<uint64_t> ids;
  for (const Fragment& fragment : fragments) ids.push_back(fragment.id);
  return ids;
}

Error Lost(std::string_view what, uint64_t found, uint64_t expected) {
  return Error{
      ErrorKind::kInternal,
      Message("compaction moved {} {}, {} were expected; the table is as it should be, open "
              "it again",
              found, what, expected),
      {}};
}

}  // namespace

// The table may have moved, or not: only opening it again tells.
template <typename T>
T Engine::TableStep(T result) {
  x_committed.version = x_table->version();
  if (!result.ok() && ClassOf(result.error().kind) == ErrorClass::kLookUp)
    x_broken = result.error();
  return result;
}

void Engine::Maintain(const CheckpointRequest& request, uint64_t version_before,
                      std::chrono::nanoseconds commit_took, CommitResult& result) {
  const auto begin = std::chrono::steady_clock::now();
  if (x_options.keep_versions != 0) {
    x_written.emplace_back(x_table->version(), result.bytes_written);
    x_pins[x_table->version()] = x_committed.ledger_version;
  }
  const auto patience = std::chrono::ceil<std::chrono::milliseconds>(commit_took);
  if (Status done = MaintainOnce(version_before, patience, result); !done.ok()) {
    Rest(std::move(done.error()));
  }
  if (!request.more_at_once) BeginRounds();
  result.maintenance_error = std::exchange(x_maintenance_error, std::nullopt);
  const std::chrono::duration<double> pause = std::chrono::steady_clock::now() - begin;
  result.maintenance_seconds = pause.count();
}

// Clean-up does not wait for compaction to succeed: it may be what makes room on the disk.
Status Engine::MaintainOnce(uint64_t version_before, std::chrono::milliseconds patience,
                            CommitResult& result) {
  Status done = x_table->version() < x_rest_until ? Status(Ok{}) : CompactOrIndex(patience, result);
  if (x_options.keep_versions == 0 || x_broken) return done;
  const uint64_t every = std::clamp(x_options.keep_versions, kCleanUpEveryMin, kCleanUpEveryMax);
  if (version_before / every == x_table->version() / every) return done;
  const auto freed = CleanUp(Retention());
  return done.ok() && !freed.ok() ? Status(freed.error()) : done;
}

void Engine::Rest(Error error) {
  x_maintenance_error = std::move(error);
  x_rest_until = x_table->version() + kRestVersions;
}

// A round that is written is put in place. An index that is made meanwhile would not follow the
// rows of a rewrite: its time is when none goes on.
Status Engine::CompactOrIndex(std::chrono::milliseconds patience, CommitResult& result) {
  if (!x_options.compaction) return Ok{};
  LW_ASSIGN_OR_RETURN(const bool placed, PlaceRound(std::max(patience, kPatienceMin), result));
  LW_ASSIGN_OR_RETURN(const std::optional<IndexStep> due, DueIndex());
  x_index_waits = due && (placed || x_table_rewrites.any());
  if (due && !x_index_waits) LW_RETURN_IF_ERROR(KeepIndex(*due));
  x_rounds_due = true;
  return Ok{};
}

// Behind a commit; where the next batch follows at once, with its first changes: behind the last
// commit of a process rounds would only be waited for.
void Engine::BeginRounds() {
  if (!std::exchange(x_rounds_due, false)) return;
  const auto begin = [this]() -> Status {
    if (!x_index_waits || x_table_rewrites.has_long()) {
      LW_RETURN_IF_ERROR(x_table_rewrites.Begin(*x_table, TablePolicy(x_options)));
    }
    return x_ledger_rewrites.Begin(*x_ledger, LedgerPolicy(x_options));
  };
  if (Status begun = begin(); !begun.ok()) Rest(std::move(begun.error()));
}

// A process that ends after each checkpoint does a round here; others have done theirs.
Status Engine::Settle() {
  if (x_state.pending_changes() != 0 && !x_closing) {
    return Error{ErrorKind::kUsage, "commit before rounds of compaction are seen through", {}};
  }
  // Not where a checkpoint failed half-way: then the ledger is ahead of its pin.
  if (!x_table || !x_ledger || x_broken || x_table->version() != x_committed.version ||
      x_ledger->version() != x_committed.ledger_version) {
    return Ok{};
  }
  if (!x_placed) BeginRounds();
  CommitResult result;
  for (bool placed = true; placed;) {
    LW_ASSIGN_OR_RETURN(placed, PlaceRound(Rewrites::kForever, result));
  }
  if (x_maintenance_error) return *std::exchange(x_maintenance_error, std::nullopt);
  return Ok{};
}

// The ledger first, which nothing refers to until the table's version pins it, as in a checkpoint.
// Memory keeps the old addresses until that version is there.
Result<bool> Engine::PlaceRound(std::chrono::milliseconds patience, CommitResult& result) {
  std::optional<Rewrite> rows = x_table_rewrites.TakeWritten(*x_table, patience);
  std::optional<Rewrite> entries = x_ledger_rewrites.TakeWritten(*x_ledger, patience);
  if (!rows && !entries) return false;
  x_placed = true;

  CompactionReceipt ledger_done;
  uint64_t ledger_live = 0;
  if (entries) {
    ledger_live = LiveRowsOf(x_ledger->fragments(), entries->fragments);
    LW_ASSIGN_OR_RETURN(ledger_done,
                        x_ledger->FinishCompaction(std::move(entries->running), x_ledger->version(),
                                                   LedgerProperties(x_writer_epoch)));
    x_ledger_rewrites.Wrote(ledger_done.new_fragments, entries->widths);
    LW_KILL_POINT("compact.after_ledger");
    if (Planted(PlantedBug::kCompactionUnpinned)) {
      LW_RETURN_IF_ERROR(MoveEntries(ledger_done, ledger_live));
    }
  }
  if (rows) {
    LW_RETURN_IF_ERROR(FinishRewrite(*rows, result));
  } else {
    LW_RETURN_IF_ERROR(PinLedger());
  }
  Status moved = MoveEntries(ledger_done, ledger_live);
  if (!moved.ok()) {
    x_broken = moved.error();
    return moved.error();
  }
  result.bytes_compacted += ledger_done.bytes_written;
  return true;
}

// A version of the table as it is, with the ledger as it is now.
Status Engine::PinLedger() {
  TableProperties next = x_committed;
  next.writer_epoch = x_writer_epoch;
  next.ledger_version = x_ledger->version();
  CommitRequest pin;
  pin.expected_version = x_table->version();
  pin.properties = EncodeProperties(next);
  pin.transaction_id = RandomId();
  LW_ASSIGN_OR_RETURN(const CommitReceipt done, TableStep(x_table->Commit(pin)));
  LW_KILL_POINT("compact.after_commit");
  TookVersion(std::move(next), done.bytes_written);
  return Ok{};
}

Status Engine::FinishRewrite(Rewrite& rewrite, CommitResult& result) {
  const uint64_t live = LiveRowsOf(x_table->fragments(), rewrite.fragments);
  TableProperties next = x_committed;
  next.writer_epoch = x_writer_epoch;
  next.ledger_version = x_ledger->version();
  LW_ASSIGN_OR_RETURN(const CompactionReceipt done,
                      TableStep(x_table->FinishCompaction(
                          std::move(rewrite.running), x_table->version(), EncodeProperties(next))));
  x_table_rewrites.Wrote(done.new_fragments, rewrite.widths);
  LW_KILL_POINT("compact.after_commit");
  TookVersion(std::move(next), done.bytes_written);
  if (Status moved = MoveRows(done, live); !moved.ok()) {
    x_broken = moved.error();
    return moved;
  }
  for (const Fragment& fragment : done.new_fragments) {
    result.rows_compacted += fragment.physical_rows;
  }
  result.bytes_compacted += done.bytes_written;
  return Ok{};
}

// The table is at a version of maintenance, whose properties are `properties`.
void Engine::TookVersion(TableProperties properties, uint64_t bytes_written) {
  x_committed = std::move(properties);
  x_committed.version = x_table->version();
  if (x_options.keep_versions == 0) return;
  x_written.emplace_back(x_committed.version, bytes_written);
  x_pins[x_committed.version] = x_committed.ledger_version;
}

// The rows of the new fragments are where their keys now live. Only key columns are read: an index
// from addresses to keys would cost more memory than the key index itself.
Status Engine::MoveRows(const CompactionReceipt& receipt, uint64_t live) {
  if (x_closing && x_index.in_memory()) return Ok{};
  if (receipt.new_fragments.empty()) return live == 0 ? Status(Ok{}) : Lost("rows", 0, live);
  const KeyColumns keys(x_table->schema());
  KeyHasher hasher(keys.schema);
  uint64_t moved = 0;
  std::vector<KeyHash> hashes;
  std::vector<KeyEntry> entries;
  const auto& removed = receipt.removed_fragments;
  const auto move = [&](const Rows& rows, std::span<const RowAddress> addresses) -> Status {
    LW_RETURN_IF_ERROR(hasher.Hash(rows, hashes));
    for (size_t begin = 0; begin < hashes.size(); begin += kKeysAhead) {
      const size_t end = std::min(begin + kKeysAhead, hashes.size());
      x_index.Prefetch(std::span(hashes).subspan(begin, end - begin));
      // What was read ahead is good until the first Store.
      entries.clear();
      for (size_t row = begin; row < end; ++row, ++moved) {
        if (moved == 0 && Planted(PlantedBug::kCompactionLosesKey)) continue;
        KeyEntry entry;
        if (!x_index.Find(hashes[row], entry) || !entry.live() ||
            !std::binary_search(removed.begin(), removed.end(), entry.address >> 32)) {
          return Lost("rows", moved, live);
        }
        entry.address = addresses[row];
        entries.push_back(entry);
      }
      for (const KeyEntry& entry : entries) x_index.Store(entry);
    }
    return Ok{};
  };
  LW_RETURN_IF_ERROR(x_table->ScanFragments(keys.names, IdsOf(receipt.new_fragments), move));
  return moved == live ? Status(Ok{}) : Lost("rows", moved, live);
}

Status Engine::MoveEntries(const CompactionReceipt& receipt, uint64_t live) {
  if (receipt.new_fragments.empty()) return live == 0 ? Status(Ok{}) : Lost("entries", 0, live);
  uint64_t moved = 0;
  LW_ASSIGN_OR_RETURN(const uint64_t checkpoints,
                      ScanLedgerAddresses(*x_ledger, IdsOf(receipt.new_fragments),
                                          [&](const KeyHash& key, RowAddress address) -> Status {
                                            if (!x_state.MoveLedgerRow(key, address))
                                              return Lost("entries", moved, live);
                                            ++moved;
                                            return Ok{};
                                          }));
  moved += checkpoints;
  return moved == live ? Status(Ok{}) : Lost("entries", moved, live);
}

// The first that is due: each is a pause.
Result<std::optional<Engine::IndexStep>> Engine::DueIndex() {
  if (x_options.indexes.empty()) return std::optional<IndexStep>();
  LW_ASSIGN_OR_RETURN(const std::vector<Index> there, x_table->Indexes());
  const uint64_t rows = x_table->count_rows();
  for (const IndexOptions& wanted : x_options.indexes) {
    // A discovered column comes with its first value.
    if (!x_table->schema().Find(wanted.column)) continue;
    const auto found = std::find_if(there.begin(), there.end(), [&](const Index& index) {
      return index.column == wanted.column;
    });
    if (found == there.end()) {
      if (rows < (wanted.type == "btree" ? 1 : kVectorRowsMin)) continue;
      return std::optional(IndexStep{&wanted, {}});
    }
    const double share = kUnindexedShare * static_cast<double>(rows);
    if (found->unindexed_rows >= kUnindexedRowsMin &&
        static_cast<double>(found->unindexed_rows) >= share) {
      return std::optional(IndexStep{&wanted, found->name});
    }
  }
  return std::optional<IndexStep>();
}

Status Engine::KeepIndex(const IndexStep& step) {
  TableProperties next = x_committed;
  next.writer_epoch = x_writer_epoch;
  const Properties properties = EncodeProperties(next);
  if (step.name.empty()) {
    LW_RETURN_IF_ERROR(TableStep(x_table->CreateIndex(step.wanted->column, step.wanted->type,
                                                      x_table->version(), properties)));
  } else {
    LW_RETURN_IF_ERROR(TableStep(x_table->ExtendIndex(step.name, x_table->version(), properties)));
  }
  next.version = x_table->version();
  x_committed = std::move(next);
  return Ok{};
}

TableImpl::CompactReport::Size Engine::SizeNow() const {
  CompactReport::Size size;
  for (const Fragment& fragment : x_table->fragments()) {
    ++size.fragments;
    size.deleted_rows += fragment.deleted_rows;
    size.data_bytes += fragment.bytes;
  }
  size.ledger_fragments = x_ledger->fragments().size();
  return size;
}

Result<TableImpl::CompactReport> Engine::Compact(const std::optional<uint64_t>& keep_versions) {
  LW_RETURN_IF_ERROR(Usable());
  if (!x_table) return Error{ErrorKind::kUsage, Message("there is no table at {}", x_uri), {}};
  if (x_state.pending_changes() != 0) {
    return Error{ErrorKind::kUsage, "commit before the table is compacted", {}};
  }
  LW_RETURN_IF_ERROR(Poison(RollBackLedger()));
  // Of a checkpoint that was lost: its version is about to be taken.
  LW_RETURN_IF_ERROR(x_dead_letters.RemoveAbove(x_committed.version, x_writer_epoch));
  CompactReport report;
  report.before = SizeNow();
  LW_ASSIGN_OR_RETURN(std::vector<uint64_t> versions, x_table->Versions());
  report.before.versions = versions.size();
  CommitResult done;
  const CompactionPolicy rows = ThoroughPolicy(TablePolicy(x_options));
  const CompactionPolicy entries = ThoroughPolicy(LedgerPolicy(x_options));
  while (true) {
    LW_RETURN_IF_ERROR(x_table_rewrites.Begin(*x_table, rows));
    LW_RETURN_IF_ERROR(x_ledger_rewrites.Begin(*x_ledger, entries));
    LW_ASSIGN_OR_RETURN(const bool placed, PlaceRound(Rewrites::kForever, done));
    if (!placed) {
      LW_ASSIGN_OR_RETURN(const std::optional<IndexStep> due, DueIndex());
      if (!due) break;
      LW_RETURN_IF_ERROR(KeepIndex(*due));
    }
    ++report.rounds;
  }
  RetentionPolicy policy = Retention();
  if (keep_versions) policy = {*keep_versions, 0, 0};
  LW_ASSIGN_OR_RETURN(report.bytes_freed, CleanUp(policy));
  report.after = SizeNow();
  LW_ASSIGN_OR_RETURN(versions, x_table->Versions());
  report.after.versions = versions.size();
  report.bytes_written = done.bytes_compacted;
  report.lance_version = x_table->version();
  return report;
}

}  // namespace lastword
