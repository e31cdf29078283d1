// TableImpl over two datasets: opens and recovers (engine_open.cc), commits (engine_commit.cc),
// compacts (engine_maintain.cc), cleans up (engine_clean_up.cc), answers questions
// (engine_read.cc). The order of steps and what each crash leaves behind is in docs/commit.md.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "commit/ledger.h"
#include "commit/lock_file.h"
#include "commit/properties.h"
#include "commit/retention.h"
#include "commit/rewrites.h"
#include "commit/table_impl.h"
#include "commit/table_index.h"
#include "state/table_state.h"

namespace lastword {

class Engine final : public TableImpl, private StoredRows {
 public:
  Engine(std::string uri, const TableOptions& options, Storage& storage);
  ~Engine() override;

  Status Open();

  const std::string& uri() const override { return x_uri; }
  const Schema& schema() const override { return x_state.schema(); }
  Status SetSchema(const Schema& schema) override;
  Status ApplyBatch(ChangeBatch& batch, std::vector<Outcome>& outcomes) override;
  Status EndOfInputs() override;
  void AddDeadLetter(DeadLetter letter) override { x_letters.push_back(std::move(letter)); }
  void BeginLog(const std::string& input, uint32_t epoch) override {
    x_state.BeginLog(input, epoch);
  }
  void HoldKey(std::string_view canonical_key, const Version& version) override {
    x_state.Hold(canonical_key, version);
  }
  Result<std::vector<DeadLetter>> DeadLetters() override;
  Status TakeDeadLetters() override;
  Result<CommitResult> Commit(const CheckpointRequest& request) override;
  Status Settle() override;
  Result<bool> KnowsCheckpoint(const std::string& id) override;
  std::optional<std::string> PositionOf(const std::string& input) const override;
  uint64_t pending_changes() const override { return x_state.pending_changes(); }
  uint64_t pending_bytes() const override { return x_state.pending_bytes(); }
  Result<Explanation> Explain(const std::string& key,
                              const std::optional<Version>& version) override;
  Status Scan(const std::function<bool(const Rows& rows, const Schema& schema)>& sink,
              std::optional<uint64_t> as_of) override;
  Result<TableStatus> GetStatus() override;
  Result<std::vector<VersionInfo>> Log(uint64_t limit) override;
  uint64_t count_rows() const override { return x_table ? x_table->count_rows() : 0; }
  const Counts& counts() const override { return x_state.counts(); }
  Result<GcReport> CollectTombstones(const std::optional<Version>& boundary) override;
  Result<CompactReport> Compact(const std::optional<uint64_t>& keep_versions) override;
  Result<uint32_t> NextEpoch() override;

 private:
  // An index that is to be made, or, where it has a name, brought up to date.
  struct IndexStep {
    const IndexOptions* wanted;
    std::string name;
  };

  Result<RowChunk> Take(std::span<const uint64_t> addresses) override;
  Status ForEachKey(const KeyVisit& visit) override;

  // engine_open.cc
  Status Recover();
  Result<std::string> StateIdentity();
  Status LoadIndex();
  Error TwoStates(const KeyEntry& entry);
  Status LoadRows(TableIndex& index);
  Status RereadAddresses();
  Status OpenLedger(uint64_t pinned);

  // engine_commit.cc
  Status Usable() const;
  Status DropKnownLetters();
  Status LettersCommitted();
  template <typename T>
  T Poison(T result);
  Status CreateDatasets();
  Result<std::unique_ptr<Dataset>> OpenLeftoverLedger();
  Status FollowSchema();
  Status CommitLedger(const SealedBatch& sealed, const std::string& checkpoint_id,
                      std::vector<uint64_t>& addresses);
  Status ForgetOldCheckpoints(std::vector<RowAddress>& deleted);
  Status RollBackLedger();
  Error FencedBy(uint64_t writer_epoch) const;
  Error NameConflict(Error error);
  Result<std::optional<uint64_t>> WriterOf(uint64_t version);
  Result<CommitReceipt> CommitTable(SealedBatch& sealed, Schema order, const TableProperties& next,
                                    std::unique_ptr<RunningWrite> begun);
  Status OnTableConflict(SealedBatch& sealed);
  Result<bool> FindOutcome(Dataset& dataset, const std::string& transaction_id);
  TableProperties NextProperties(const std::string& checkpoint_id,
                                 std::map<std::string, std::string> positions) const;
  void DropBatch();

  // engine_maintain.cc
  void Maintain(const CheckpointRequest& request, uint64_t version_before,
                std::chrono::nanoseconds commit_took, CommitResult& result);
  Status MaintainOnce(uint64_t version_before, std::chrono::milliseconds patience,
                      CommitResult& result);
  void Rest(Error error);
  Status CompactOrIndex(std::chrono::milliseconds patience, CommitResult& result);
  void BeginRounds();
  Result<bool> PlaceRound(std::chrono::milliseconds patience, CommitResult& result);
  Status PinLedger();
  Status FinishRewrite(Rewrite& rewrite, CommitResult& result);
  void TookVersion(TableProperties properties, uint64_t bytes_written);
  Result<std::optional<IndexStep>> DueIndex();
  Status KeepIndex(const IndexStep& step);
  template <typename T>
  T TableStep(T result);
  Status MoveRows(const CompactionReceipt& receipt, uint64_t live);
  Status MoveEntries(const CompactionReceipt& receipt, uint64_t live);
  CompactReport::Size SizeNow() const;

  // engine_clean_up.cc
  Result<uint64_t> CleanUp(const RetentionPolicy& policy);
  Status CleanUpLedger();
  Result<uint64_t> PinOf(uint64_t version);
  RetentionPolicy Retention() const;

  // engine_read.cc
  Result<std::optional<uint64_t>> FirstVersion(Dataset& dataset, uint64_t fragment);
  Status ExplainOrigin(const KeyEntry& entry, Explanation& explanation);

  std::string x_uri;
  TableOptions x_options;
  Storage& x_storage;
  std::unique_ptr<LockFile> x_lock;
  std::unique_ptr<Dataset> x_table;  // null until the first commit creates it
  std::unique_ptr<Dataset> x_ledger;
  TableIndex x_index;
  bool x_index_complete = false;  // it holds the state at x_committed
  TableState x_state;
  TableProperties x_committed;  // of the version that the state builds upon
  CheckpointIds x_checkpoints;
  std::vector<KeyHash> x_forgotten;  // of them, by the commit under way
  DeadLetterFolder x_dead_letters;
  std::vector<DeadLetter> x_letters;  // of the uncommitted batch
  // Committed letters, by what was put aside from where; read when the first one is added.
  std::optional<std::unordered_set<KeyHash, KeyHashHasher>> x_known_letters;
  bool x_letters_taken = false;  // by the uncommitted batch
  std::vector<std::string> x_foreign;
  uint64_t x_writer_epoch = 0;
  Rewrites x_table_rewrites, x_ledger_rewrites;
  bool x_rounds_due = false;                 // since the last commit
  bool x_index_waits = false;                // for rounds to end
  bool x_placed = false;                     // a round, by this object
  std::optional<Error> x_maintenance_error;  // for the next result
  // Of versions that this object made, or had to ask for, and that clean-up may still see.
  std::deque<std::pair<uint64_t, uint64_t>> x_written;  // version, bytes that it wrote
  std::map<uint64_t, uint64_t> x_pins;                  // version -> version of the ledger
  uint64_t x_ledger_kept_from = 0;
  uint64_t x_letters_checked = 0;  // dead letters below were compared with their versions
  uint64_t x_rest_until = 0;       // table version: maintenance failed, and waits for it
  bool x_closing = false;          // nobody will ask this object again
  std::optional<Error> x_broken;   // after an error that only a new Open can mend
};

}  // namespace lastword
