// The state of one table: committed keys (index and extras) below, the uncommitted batch (overlay)
// on top, and the law in between. Decides changes one by one in order of arrival; collapses them to
// one final action a key; tells the commit layer what to write (Seal) and learns where it was
// written (Committed). No clock, no thread; the only I/O is StoredRows, asked for committed rows
// that a partial image needs.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lastword/table.h"
#include "model/change_batch.h"
#include "model/row_chunk.h"
#include "state/floors.h"
#include "state/key_entry.h"
#include "state/key_extra.h"
#include "state/overlay.h"
#include "state/state_head.h"
#include "state/stored.h"

namespace lastword {

class KeyIndex;       // state/key_index.h
struct StoredChange;  // state/law.h

struct StateOptions {
  OnConflict on_conflict = OnConflict::kFail;
  OnResnapshot on_resnapshot = OnResnapshot::kUnset;
  LoneUpdateBefore lone_update_before = LoneUpdateBefore::kDelete;
};

/// What one checkpoint writes: exactly one final action a key.
struct SealedBatch {
  Rows rows;  // visible rows: the schema's columns, then epoch, hi, mid, lo, digest
  std::vector<PendingKey*> row_keys;  // key of each row
  std::vector<uint64_t> superseded;   // visible rows to delete
  std::vector<LedgerRow> ledger_rows;
  std::vector<PendingKey*> ledger_keys;
  std::vector<uint64_t> ledger_superseded;
  std::vector<KeyHash> erased;  // keys outside the overlay that a truncate or a clean-up removes
  int64_t tombstones_added = 0;

  bool empty() const {
    return row_keys.empty() && superseded.empty() && ledger_rows.empty() &&
           ledger_superseded.empty();
  }
};

class TableState {
 public:
  TableState(KeyIndex& index, StoredRows& stored, const StateOptions& options);

  /// Sets the schema of rows to come; earlier chunks are adapted when they are sealed.
  void SetSchema(const Schema& schema);
  const Schema& schema() const { return *x_schema; }

  /// Replaces everything by a committed state, as a process finds it; the index is filled by the
  /// caller.
  void Restore(StateHead head, std::unordered_map<KeyHash, StoredExtra, KeyHashHasher> extras);

  /// Contract of TableImpl::ApplyBatch.
  Status Apply(ChangeBatch& batch, std::vector<Outcome>& outcomes);
  /// Every input is at its end: completes a snapshot whose end was seen.
  Status EndOfInputs();
  /// Raises the floor to `boundary` and marks every tombstone at or below it for removal; the batch
  /// must be empty. Returns how many; `kept` counts the others.
  uint64_t CollectTombstones(const Version& boundary, uint64_t& kept);
  uint32_t NextEpoch();
  /// Forgets what is known of the offsets of `input`, all of which belong to `epoch` or a later
  /// one.
  void BeginLog(const std::string& input, uint32_t epoch);
  /// A record of this key could not be applied: later changes of it are held back (kHeld), but for
  /// deletes and complete images above `version`, which end the hold.
  void Hold(std::string_view key, const Version& version);
  /// Ends all holds: the bad records are about to be applied again.
  void ReleaseHolds();

  /// Closes the batch: resolves lone -U changes, reads rows that extras keep, and lists what to
  /// write. May be called again after a failed commit. Pointers are good until Committed or
  /// Abandon.
  Result<SealedBatch> Seal();
  /// Puts the written batch into the index: `row_addresses` and `ledger_addresses` in the order of
  /// the sealed batch.
  void Committed(const SealedBatch& sealed, std::span<const uint64_t> row_addresses,
                 std::span<const uint64_t> ledger_addresses);
  /// The committed rows have moved and the index knows where to: names the superseded rows of
  /// `sealed` anew.
  void Readdress(SealedBatch& sealed);
  /// The ledger row of a key lies at `address` now: the ledger was compacted, and the batch is
  /// empty. False: no row of the ledger belongs to the key.
  bool MoveLedgerRow(const KeyHash& key, uint64_t address);
  /// Drops the batch. The head (inputs, floor, counts) is not undone: the caller restores it from
  /// storage.
  void Abandon();

  /// True when the head differs from the committed one in more than its counts: a checkpoint is due
  /// even if no key changed.
  bool dirty() const { return x_dirty; }
  uint64_t pending_changes() const { return x_pending_changes; }
  uint64_t pending_bytes() const;

  StateHead& head() { return x_head; }
  const StateHead& head() const { return x_head; }
  const Counts& counts() const { return x_counts; }
  const std::unordered_map<KeyHash, StoredExtra, KeyHashHasher>& extras() const { return x_extras; }

  /// State of a key, uncommitted changes included; for explain.
  struct KeyView {
    KeyEntry entry;
    RowRef row;
    const KeyExtra* extra = nullptr;
  };
  KeyView View(const KeyHash& key, std::string_view canonical_key);
  const RowChunk& chunk(uint32_t i) const { return *x_chunks[i]; }

 private:
  // One change on its way through the law.
  struct Incoming {
    const ChangeBatch& batch;
    const ChangeHead& head;
    const ChangeDetail* detail = nullptr;
    Version version;
    uint32_t input = 0;        // number
    uint32_t chunk = 0;        // of head.row
    uint64_t transaction = 0;  // what its changes have in common, in its epoch
    const Origin& origin;      // of the input
    bool reread = false;
    PendingKey* known = nullptr;  // of head.key, where it was looked up
    bool ends_record = true;      // false: another change of the same record follows
    bool has(uint16_t flag) const { return (head.flags & flag) != 0; }
    bool partial() const { return detail != nullptr && !detail->unavailable.empty(); }
  };

  // What the first half of a record changes, as it was before.
  struct FirstHalf {
    struct Saved {
      PendingKey* key = nullptr;
      KeyEntry now;
      RowRef row;
      std::unique_ptr<KeyExtra> extra;
      bool changed = false;
    };
    std::vector<Saved> keys;
    size_t outcomes = 0;
    uint32_t input = 0;
    std::optional<Version> highest;
    Counts counts, totals;
    uint64_t pending_changes = 0;
  };
  FirstHalf RememberHalf(const Incoming& in, size_t outcomes);
  void TakeBack(FirstHalf& half, std::vector<Outcome>& outcomes);

  // table_state.cc: one change
  Origin OriginOf(const ChangeBatch& batch, const ChangeHead& head) const;
  Result<Outcome> ApplyHead(const Incoming& in);
  Result<Outcome> ApplyKey(const Incoming& in);
  Result<Outcome> DecideKey(PendingKey& key, const Incoming& in);
  Result<Outcome> OnConflictOf(PendingKey& key, const Incoming& in, const StoredChange& stored);
  bool Held(const PendingKey& key, const Incoming& in) const;
  Status ApplyDelete(PendingKey& key, const Incoming& in);
  Status ApplyUpsert(PendingKey& key, const Incoming& in);
  void BecomeTombstone(PendingKey& key, const Version& version);
  void BecomeLive(PendingKey& key, const Version& version, uint64_t digest, RowRef row);
  Error At(const Incoming& in, ErrorKind kind, std::string message) const;

  // keys.cc: slots, extras, delete memory
  std::string_view BytesOf(const PendingKey& key) const;
  std::optional<Version> FloorOf(const PendingKey& key) const;
  void LookAhead(const ChangeBatch& batch, size_t begin, size_t end);
  PendingKey& Load(const KeyHash& key, std::string_view bytes, PendingKey* known = nullptr);
  const KeyExtra* ExtraOf(const PendingKey& key) const;
  KeyExtra& MutableExtra(PendingKey& key);
  std::optional<StoredChange> StateOf(const PendingKey& key) const;
  bool LastWasDelete(const PendingKey& key, uint32_t input) const;
  void RememberDelete(PendingKey& key, const Incoming& in);
  void RememberNullValue(PendingKey& key, const Incoming& in);
  void SetDeleteMemory(PendingKey& key, uint32_t input, uint16_t memory);
  void ForgetSeenDeletes(PendingKey& key);
  uint32_t NewChunk(std::shared_ptr<const Schema> schema);
  void CountChunks();
  void LeaveBuilt();

  // partial.cc: images with unavailable columns
  Status ApplyPartial(PendingKey& key, const Incoming& in);
  Status MergeIntoWaiting(PendingKey& key, const Incoming& in,
                          const std::vector<std::string>& unavailable);
  std::vector<std::string> FillableBy(const Incoming& in, const KeyExtra& extra) const;
  const RowChunk* BeforeOf(const Incoming& in, uint64_t& row) const;
  Status NoBase(const Incoming& in) const;
  Result<bool> FillLate(PendingKey& key, const Incoming& in);
  bool FillLateWaiting(PendingKey& key, const Incoming& in, const std::vector<std::string>& filled);
  Result<SharedRow> ReadRow(const LazyRow& row);
  LazyRow RowOf(const PendingKey& key) const;
  Status MakePending(PendingKey& key);
  RowRef BuildRow(RowRef image, const std::vector<std::string>& take, const RowChunk& base,
                  uint64_t base_row);

  // key_change.cc: two halves, swaps
  Status CheckNotWaiting(const PendingKey& key, const Incoming& in) const;
  Status ApplyKeyChangeDelete(PendingKey& key, const Incoming& in);
  Status ApplyPartialKeyChange(PendingKey& key, const Incoming& in);
  Status HandOver(const Incoming& in, LazyRow row);
  Status FillWaiting(PendingKey& key, const Incoming& in, const LazyRow& base);
  void ReleaseKept(const Incoming& in);
  void MarkOverwritten(PendingKey& key, const Incoming& in, LazyRow old_row);

  // table_wide.cc: truncate, snapshots
  Result<Outcome> ApplyTruncate(const Incoming& in);
  Status RemoveAtOrBelow(const Origin& origin, const Version& version);
  void RemoveFromKey(PendingKey& key, const Version& version);
  bool Truncated(const Version& version, std::string_view key) const;
  Status ForEachCommitted(
      bool with_bytes,
      const std::function<void(const KeyEntry& entry, std::string_view key)>& visit) const;
  SnapshotEnd* EndOf(const Origin& origin);
  bool CompletesSnapshot(const Incoming& in, const Version& end) const;
  Result<bool> AnyLiveBelow(const Origin& origin, const Version& version, const KeyHash* except,
                            bool or_at = false);
  Status CheckSnapshotEnd(const Incoming& in);
  Status CheckRowsLeft(const SnapshotEnd& end, const KeyHash* except);
  Status FinishSnapshot(const Origin& origin);

  // seal.cc
  Status SealLoneUpdateBefores();
  Status SealLazyRows(KeyExtra& extra);
  void SealKey(PendingKey& key, SealedBatch& sealed);
  Status SealRemovals(SealedBatch& sealed);
  Status SealRows(SealedBatch& sealed);

  KeyIndex& x_index;
  StoredRows& x_stored;
  StateOptions x_options;
  std::shared_ptr<const Schema> x_schema;
  std::vector<std::string> x_origin_columns;  // of the schema
  StateHead x_head;
  std::unordered_map<KeyHash, StoredExtra, KeyHashHasher> x_extras;  // committed
  // Old key of each waiting upsert half, committed or not: where a delete half that does not name
  // its new key looks.
  std::unordered_multimap<KeyHash, KeyHash, KeyHashHasher> x_waiting_by_old;

  Overlay x_overlay;
  // Of the heads that LookAhead saw last: their keys, where the batch has touched them before, and
  // those that the index is asked for.
  std::vector<PendingKey*> x_known;
  std::vector<KeyHash> x_ahead;
  std::deque<std::unique_ptr<RowChunk>> x_chunks;
  std::deque<std::string> x_key_arena;
  std::map<KeyHash, Version> x_lone_update_befores;
  Floors x_truncated;                  // by the batch: committed rows at or below them are gone
  std::optional<Version> x_collected;  // by the batch: tombstones at or below it are gone
  uint32_t x_built = UINT32_MAX;       // chunk of rows that were put together here
  uint64_t x_arrival_ordinal = 0;
  uint64_t x_pending_changes = 0;
  // Bytes held by the first x_counted chunks, but for x_built: only that one still grows.
  uint64_t x_counted = 0, x_counted_bytes = 0;
  bool x_dirty = false;
  Counts x_counts;
};

}  // namespace lastword
