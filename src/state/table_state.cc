#include "state/table_state.h"

#include <algorithm>

#include "base/format.h"
#include "base/planted_bug.h"
#include "model/digest.h"
#include "model/key.h"
#include "state/law.h"

namespace lastword {
namespace {

constexpr size_t kKeysAhead = 256;                   // looked up together
constexpr uint32_t kInputsMax = kNullValueSeen - 2;  // KeyEntry::delete_input holds 1 + a number

void Count(Outcome outcome, Counts& counts) {
  switch (outcome) {
    case Outcome::kApplied:
      ++counts.applied;
      break;
    case Outcome::kStale:
      ++counts.stale;
      break;
    case Outcome::kRepeat:
      ++counts.repeat;
      break;
    case Outcome::kConflict:
      ++counts.conflict;
      break;
    case Outcome::kHeld:
      ++counts.held;
      break;
  }
}

}  // namespace

TableState::TableState(KeyIndex& index, StoredRows& stored, const StateOptions& options)
    : x_index(index), x_stored(stored), x_options(options), x_schema(std::make_shared<Schema>()) {}

void TableState::SetSchema(const Schema& schema) {
  x_schema = std::make_shared<const Schema>(schema);
  x_origin_columns = OriginColumns(schema);
  LeaveBuilt();
}

void TableState::Restore(StateHead head,
                         std::unordered_map<KeyHash, StoredExtra, KeyHashHasher> extras) {
  Abandon();
  x_head = std::move(head);
  x_head.inputs.RestartStreams();
  if (Planted(PlantedBug::kForgottenFloor)) x_head.floors = {};
  x_extras = std::move(extras);
  x_waiting_by_old.clear();
  for (const auto& [key, stored] : x_extras) {
    if (stored.extra.waiting) x_waiting_by_old.emplace(stored.extra.waiting->old_key, key);
  }
}

void TableState::Abandon() {
  x_overlay.Clear();
  x_chunks.clear();
  x_key_arena.clear();
  x_lone_update_befores.clear();
  x_truncated = {};
  x_collected.reset();
  x_arrival_ordinal = 0;
  x_pending_changes = 0;
  x_built = UINT32_MAX;
  x_counted = x_counted_bytes = 0;
  x_dirty = false;
}

Error TableState::At(const Incoming& in, ErrorKind kind, std::string message) const {
  Error error{kind, std::move(message), {}};
  error.place.input = in.batch.inputs[in.head.input];
  error.place.offset = in.head.offset;
  if (in.head.line != 0) error.place.line = in.head.line;
  if (in.head.kind != Kind::kTruncate) error.place.key = KeyToText(in.batch.KeyOf(in.head));
  return error;
}

Status TableState::Apply(ChangeBatch& batch, std::vector<Outcome>& outcomes) {
  CountChunks();
  const uint32_t chunk = NewChunk(x_schema);
  std::swap(x_chunks[chunk]->rows, batch.rows);
  std::optional<FirstHalf> first_half;
  uint32_t number = 0;
  for (size_t i = 0; i < batch.heads.size(); ++i) {
    if (i % kKeysAhead == 0) LookAhead(batch, i, std::min(i + kKeysAhead, batch.heads.size()));
    ChangeHead& head = batch.heads[i];
    const Origin origin = OriginOf(batch, head);
    if (i == 0 || head.input != batch.heads[i - 1].input ||
        origin != x_head.inputs.at(number).origin) {
      number = x_head.inputs.NumberOf(batch.inputs[head.input], origin, x_head.epoch);
    }
    if (number > kInputsMax) {
      return Error{ErrorKind::kUsage, Message("a table takes at most {} inputs", kInputsMax), {}};
    }
    InputState& input = x_head.inputs.at(number);
    Incoming in{batch, head, nullptr, {}, number, chunk, 0, input.origin};
    in.known = x_known[i % kKeysAhead];
    if (head.detail != kNone) in.detail = &batch.details[head.detail];
    in.version = CompleteVersion(head, input);
    // The arrival is the version: above everything decided before this batch, in the order of the
    // batch.
    if (in.has(kArrivalVersion)) {
      in.version = {x_head.epoch, x_head.highest_hi + 1, ++x_arrival_ordinal, 0};
    }
    head.version = in.version;
    // Before the first commit that a source sees, all its events are of one transaction.
    in.transaction = in.has(kNoCommitSeen) ? input.SnapshotLsnBefore(head.offset) : in.version.hi;
    in.reread = input.IsReread(head.offset) && !in.has(kArrivalVersion);
    in.ends_record = i + 1 == batch.heads.size() || batch.heads[i + 1].input != head.input ||
                     batch.heads[i + 1].offset != head.offset;
    if (!in.ends_record && !first_half) first_half = RememberHalf(in, outcomes.size());
    auto outcome = ApplyHead(in);
    if (!outcome.ok()) {
      if (first_half) TakeBack(*first_half, outcomes);
      return std::move(outcome.error());
    }
    Count(*outcome, x_counts);
    Count(*outcome, x_head.totals);
    outcomes.push_back(*outcome);
    if (in.ends_record) first_half.reset();
  }
  return Ok{};
}

// The source table of a change, where the key tells them apart.
Origin TableState::OriginOf(const ChangeBatch& batch, const ChangeHead& head) const {
  if (x_origin_columns.empty()) return {};
  if (head.kind == Kind::kTruncate) {
    return head.detail == kNone ? Origin() : batch.details[head.detail].origin;
  }
  auto values = OriginValues(*x_schema, x_origin_columns, batch.KeyOf(head));
  return values ? Origin{x_origin_columns, std::move(*values)} : Origin();
}

// Both halves of a key change that came as one record are applied, or neither.
TableState::FirstHalf TableState::RememberHalf(const Incoming& in, size_t outcomes) {
  FirstHalf half;
  half.outcomes = outcomes;
  half.input = in.input;
  half.highest = x_head.inputs.at(in.input).highest;
  half.counts = x_counts;
  half.totals = x_head.totals;
  half.pending_changes = x_pending_changes;
  std::vector<PendingKey*> touched = {&Load(in.head.key, in.batch.KeyOf(in.head))};
  if (in.detail != nullptr && !(in.detail->other_key == KeyHash{})) {
    touched.push_back(&Load(in.detail->other_key, in.detail->other_key_bytes));
  }
  for (PendingKey* key : touched) {
    FirstHalf::Saved& saved = half.keys.emplace_back();
    saved.key = key;
    saved.now = key->now;
    saved.row = key->row;
    saved.changed = key->changed;
    if (key->extra) saved.extra = std::make_unique<KeyExtra>(*key->extra);
  }
  return half;
}

void TableState::TakeBack(FirstHalf& half, std::vector<Outcome>& outcomes) {
  for (FirstHalf::Saved& saved : half.keys) {
    saved.key->now = saved.now;
    saved.key->row = saved.row;
    saved.key->changed = saved.changed;
    saved.key->extra = std::move(saved.extra);
  }
  x_head.inputs.at(half.input).highest = half.highest;
  x_counts = half.counts;
  x_head.totals = half.totals;
  x_pending_changes = half.pending_changes;
  outcomes.resize(half.outcomes);
}

Result<Outcome> TableState::ApplyHead(const Incoming& in) {
  LW_RETURN_IF_ERROR(CheckSnapshotEnd(in));
  Outcome outcome = Outcome::kStale;
  if (in.head.kind == Kind::kTruncate) {
    LW_ASSIGN_OR_RETURN(outcome, ApplyTruncate(in));
  } else {
    LW_ASSIGN_OR_RETURN(outcome, ApplyKey(in));
  }
  if (x_head.inputs.at(in.input).Applied(in.head, in.version, in.ends_record)) x_dirty = true;
  ++x_pending_changes;
  const SnapshotEnd* end = in.ends_record ? EndOf(in.origin) : nullptr;
  if (end != nullptr && x_head.inputs.AllPast(in.origin, end->version)) {
    LW_RETURN_IF_ERROR(FinishSnapshot(in.origin));
  }
  return outcome;
}

Result<Outcome> TableState::ApplyKey(const Incoming& in) {
  PendingKey& key = Load(in.head.key, in.batch.KeyOf(in.head), in.known);
  const bool reread = in.reread && !Planted(PlantedBug::kNullValueReRead);
  if (in.has(kNullValue) && (reread || LastWasDelete(key, in.input))) {
    RememberNullValue(key, in);
    return Outcome::kRepeat;
  }
  if (in.has(kUpdateBefore)) {
    key.lone_update_before = true;
    x_lone_update_befores.insert_or_assign(in.head.key, in.version);
    return Outcome::kApplied;
  }
  LW_ASSIGN_OR_RETURN(const Outcome outcome, DecideKey(key, in));
  if (key.lone_update_before) {
    key.lone_update_before = false;
    x_lone_update_befores.erase(in.head.key);
  }
  RememberDelete(key, in);
  return outcome;
}

Result<Outcome> TableState::DecideKey(PendingKey& key, const Incoming& in) {
  const bool upsert = in.head.kind == Kind::kUpsert;
  const std::optional<StoredChange> stored = StateOf(key);
  const Decision decision = Decide(in.version, in.head.digest, upsert, stored, FloorOf(key));
  Outcome outcome = decision.outcome;
  if (Planted(PlantedBug::kUnversionedDelete) && !upsert) outcome = Outcome::kApplied;
  if (Planted(PlantedBug::kTieByArrival) && outcome == Outcome::kConflict) {
    outcome = Outcome::kApplied;
  }
  if (outcome == Outcome::kConflict) {
    LW_ASSIGN_OR_RETURN(outcome, OnConflictOf(key, in, *stored));
  }
  if (outcome == Outcome::kApplied && Held(key, in)) outcome = Outcome::kHeld;
  switch (outcome) {
    case Outcome::kApplied:
      LW_RETURN_IF_ERROR(upsert ? ApplyUpsert(key, in) : ApplyDelete(key, in));
      break;
    case Outcome::kStale:
      if (decision.below_floor) {
        ++x_counts.below_floor;
        ++x_head.totals.below_floor;
      }
      if (upsert && !decision.below_floor) {
        LW_ASSIGN_OR_RETURN(const bool filled, FillLate(key, in));
        if (filled) outcome = Outcome::kApplied;
      }
      if (upsert) ReleaseKept(in);
      break;
    case Outcome::kRepeat:
      if (upsert) ReleaseKept(in);
      break;
    case Outcome::kConflict:
    case Outcome::kHeld:
      break;
  }
  return outcome;
}

// The order of a key survives a bad record: what builds on it, or came before it, waits with it.
bool TableState::Held(const PendingKey& key, const Incoming& in) const {
  const KeyExtra* extra = ExtraOf(key);
  if (extra == nullptr || !extra->held) return false;
  return in.partial() || in.version <= *extra->held;
}

void TableState::Hold(std::string_view key, const Version& version) {
  KeyExtra& extra = MutableExtra(Load(Hash128(key), key));
  extra.held = extra.held ? std::max(*extra.held, version) : version;
}

void TableState::ReleaseHolds() {
  for (const auto& [key, stored] : x_extras) {
    if (stored.extra.held) MutableExtra(Load(key, stored.key)).held.reset();
  }
}

Result<Outcome> TableState::OnConflictOf(PendingKey& key, const Incoming& in,
                                         const StoredChange& stored) {
  // Reads without a position say nothing about their order; the later one was read later.
  if (in.has(kUnpositioned) && stored.live) return in.reread ? Outcome::kStale : Outcome::kApplied;
  if (x_options.on_conflict == OnConflict::kFail) {
    return At(
        in, ErrorKind::kVersionConflict,
        Message("two different changes carry version {}; the first one stays. The source, or the "
                "declared sequence, does not order its changes: fix it, or set on_conflict: "
                "quarantine to go on without the second",
                ToString(in.version)));
  }
  MutableExtra(key).quarantined = true;
  ++x_counts.quarantined;
  ++x_head.totals.quarantined;
  return Outcome::kConflict;
}

Status TableState::ApplyDelete(PendingKey& key, const Incoming& in) {
  if (in.has(kKeyChangeDelete)) return ApplyKeyChangeDelete(key, in);
  BecomeTombstone(key, in.version);
  return Ok{};
}

Status TableState::ApplyUpsert(PendingKey& key, const Incoming& in) {
  if (in.has(kKeyChangeUpsert)) LW_RETURN_IF_ERROR(CheckNotWaiting(key, in));
  if (in.partial()) return ApplyPartial(key, in);
  const LazyRow old_row = in.has(kKeyChangeUpsert) ? RowOf(key) : LazyRow{};
  BecomeLive(key, in.version, in.head.digest, {in.chunk, in.head.row});
  if (in.has(kKeyChangeUpsert)) {
    MarkOverwritten(key, in, old_row);
    ReleaseKept(in);
  }
  return Ok{};
}

namespace {

// What a new state ends: everything about the old one. Kept rows and the memory of deletes belong
// to the key.
void EndOldState(KeyExtra& extra) {
  extra.carried.clear();
  extra.quarantined = false;
  extra.held.reset();
  extra.waiting.reset();
  extra.overwritten.reset();
}

}  // namespace

void TableState::BecomeTombstone(PendingKey& key, const Version& version) {
  key.now.status =
      Planted(PlantedBug::kDroppedTombstone) ? KeyStatus::kNone : KeyStatus::kTombstone;
  key.now.set_version(version);
  key.now.digest = kDeleteDigest;
  key.row = {};
  key.changed = true;
  if (ExtraOf(key) != nullptr) EndOldState(MutableExtra(key));
}

void TableState::BecomeLive(PendingKey& key, const Version& version, uint64_t digest, RowRef row) {
  key.now.status = KeyStatus::kLive;
  key.now.set_version(version);
  key.now.digest = digest;
  key.row = row;
  key.changed = true;
  if (ExtraOf(key) != nullptr) EndOldState(MutableExtra(key));
}

uint32_t TableState::NextEpoch() {
  for (const InputState& input : x_head.inputs.states()) {
    if (input.highest) x_head.epoch = std::max(x_head.epoch, input.highest->epoch);
  }
  ++x_head.epoch;
  for (InputState& input : x_head.inputs.states()) {
    const uint64_t from = input.applied_offset ? *input.applied_offset + 1 : 0;
    input.epochs.push_back({from, x_head.epoch});
  }
  x_dirty = true;
  return x_head.epoch;
}

void TableState::BeginLog(const std::string& input, uint32_t epoch) {
  if (x_head.inputs.BeginLog(input, epoch)) x_dirty = true;
}

}  // namespace lastword
