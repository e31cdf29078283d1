// Changes that concern a whole table: truncates, the end of a snapshot, clean-up of tombstones.
#include <algorithm>

#include "base/format.h"
#include "base/planted_bug.h"
#include "state/table_state.h"

namespace lastword {
namespace {

// The last record of the key in some input was a delete, and no null-value record has come behind
// it.
bool NullValueMayFollow(const KeyEntry& entry) {
  return entry.delete_input != 0 && !(entry.delete_input & kNullValueSeen);
}

// The highest version below this one, which is not the lowest of all.
Version JustBelow(Version version) {
  if (version.lo-- != 0) return version;
  if (version.mid-- != 0) return version;
  if (version.hi-- != 0) return version;
  --version.epoch;
  return version;
}

}  // namespace

Result<Outcome> TableState::ApplyTruncate(const Incoming& in) {
  if (x_options.several_sources) {
    return At(in, ErrorKind::kUnsupportedOp,
              "a truncate of one of several source tables: their rows cannot be told apart in this "
              "table. "
              "Give each source a table of its own, or delete its rows at the source");
  }
  // A floor that no truncate raised (clean-up) leaves rows below it.
  if (x_head.floor && in.version <= *x_head.floor && !AnyLiveBelow(in.version, nullptr, true)) {
    return in.version == *x_head.floor ? Outcome::kRepeat : Outcome::kStale;
  }
  RemoveAtOrBelow(in.version);
  return Outcome::kApplied;
}

void TableState::RemoveAtOrBelow(const Version& version) {
  x_head.floor = x_head.floor ? std::max(*x_head.floor, version) : version;
  x_truncated = x_truncated ? std::max(*x_truncated, version) : version;
  x_dirty = true;
  // Extras may keep rows of the truncated past: their keys come into the overlay. So do keys with
  // the memory of a delete whose null-value record may still come: it outlives the tombstone.
  for (const auto& [key, stored] : x_extras) Load(key, stored.key);
  std::vector<KeyHash> remembered;
  x_index.ForEach([&](const KeyEntry& entry) {
    if (NullValueMayFollow(entry) && entry.version() <= version) remembered.push_back(entry.key);
  });
  for (const KeyHash& key : remembered) Load(key, {});
  if (Planted(PlantedBug::kTruncateOnlyStored)) return;
  for (uint64_t i = 0; i < x_overlay.size(); ++i) {
    PendingKey& key = x_overlay.at(i);
    if (key.now.status != KeyStatus::kNone && key.now.version() <= version) {
      key.now.status = KeyStatus::kNone;
      key.row = {};
      key.changed = true;
      ForgetSeenDeletes(key);
    }
    const KeyExtra* extra = ExtraOf(key);
    if (extra == nullptr) continue;
    KeyExtra& left = MutableExtra(key);
    std::erase_if(left.kept, [&](const KeptRow& kept) { return kept.position <= version; });
    if (left.waiting && left.waiting->version <= version) left.waiting.reset();
    if (key.now.status == KeyStatus::kNone && !left.waiting) {
      left.carried.clear();
      left.quarantined = false;
      left.overwritten.reset();
    }
  }
}

bool TableState::AnyLiveBelow(const Version& version, const KeyHash* except, bool or_at) const {
  const auto below = [&](const Version& row) { return row < version || (or_at && row == version); };
  bool found = false;
  auto& self = const_cast<TableState&>(*this);  // Overlay::Find hands out mutable slots
  x_index.ForEach([&](const KeyEntry& entry) {
    if (found || !entry.live() || !below(entry.version()) || Truncated(entry.version())) return;
    if (except != nullptr && entry.key == *except) return;
    found = self.x_overlay.Find(entry.key) == nullptr;
  });
  for (uint64_t i = 0; i < x_overlay.size() && !found; ++i) {
    const KeyEntry& now = x_overlay.at(i).now;
    if (except != nullptr && now.key == *except) continue;
    found = now.live() && below(now.version());
  }
  return found;
}

bool TableState::CompletesSnapshot(const Incoming& in) const {
  const Version end = in.has(kSnapshotEnd) ? in.version : *x_head.snapshot_end;
  const std::vector<InputState>& inputs = x_head.inputs.states();
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    std::optional<Version> highest = inputs[i].highest;
    if (i == in.input && (!highest || *highest < in.version)) highest = in.version;
    if (!highest || *highest < end) return false;
  }
  return true;
}

// Before the record that completes a snapshot is decided: an error must leave the table as it was
// before that record.
Status TableState::CheckSnapshotEnd(const Incoming& in) {
  const bool ends = in.has(kSnapshotEnd) && !in.reread && in.version.hi != 0;
  if (!ends && !x_head.snapshot_end) return Ok{};
  if (x_options.on_resnapshot != OnResnapshot::kMerge && CompletesSnapshot(in)) {
    const Version end = ends ? in.version : *x_head.snapshot_end;
    const bool rows_left = AnyLiveBelow(end, &in.head.key);
    if (rows_left && x_options.on_resnapshot == OnResnapshot::kUnset) {
      Error error = GapError();
      error.place = At(in, ErrorKind::kSourceGap, {}).place;
      return error;
    }
    if (rows_left && x_options.several_sources) {
      Error error = SeveralSourcesError();
      error.place = At(in, ErrorKind::kUnsupportedOp, {}).place;
      return error;
    }
  }
  if (ends) {
    x_head.snapshot_end = in.version;
    x_dirty = true;
  }
  return Ok{};
}

Error TableState::GapError() const {
  return Error{
      ErrorKind::kSourceGap,
      "a snapshot ended, but the table holds rows that it did not contain: they were deleted while "
      "nothing was captured, or the snapshot covers only a part. Set on_resnapshot: replace to "
      "remove them, or merge to keep them",
      {}};
}

Error TableState::SeveralSourcesError() const {
  return Error{ErrorKind::kUnsupportedOp,
               "on_resnapshot: replace on a table with several sources: their rows cannot be told "
               "apart. Set on_resnapshot: merge, or give each source a table of its own",
               {}};
}

// A truncate just below the reads, also where there is no row to remove: what arrives late and lies
// below was gone when the snapshot was taken.
Status TableState::FinishSnapshot() {
  if (x_options.on_resnapshot == OnResnapshot::kReplace && !x_options.several_sources) {
    RemoveAtOrBelow(JustBelow(*x_head.snapshot_end));
  }
  x_head.snapshot_end.reset();
  x_dirty = true;
  return Ok{};
}

Status TableState::EndOfInputs() {
  if (!x_head.snapshot_end) return Ok{};
  const bool rows_left = x_options.on_resnapshot != OnResnapshot::kMerge &&
                         AnyLiveBelow(*x_head.snapshot_end, nullptr);
  if (rows_left && x_options.on_resnapshot == OnResnapshot::kUnset) return GapError();
  if (rows_left && x_options.several_sources) return SeveralSourcesError();
  return FinishSnapshot();
}

uint64_t TableState::CollectTombstones(const Version& boundary, uint64_t& kept) {
  uint64_t removed = 0;
  kept = 0;
  std::vector<KeyHash> loaded;
  x_index.ForEach([&](const KeyEntry& entry) {
    if (entry.status != KeyStatus::kTombstone) return;
    const bool goes = entry.version() <= boundary && !entry.has_extra;
    ++(goes ? removed : kept);
    if (goes && (NullValueMayFollow(entry) || x_overlay.Find(entry.key) != nullptr)) {
      loaded.push_back(entry.key);
    }
  });
  // A null-value record has no version, so the boundary does not speak of it: while it may still
  // come, the memory of its delete outlives the tombstone.
  for (const KeyHash& hash : loaded) {
    PendingKey& key = Load(hash, {});
    key.now.status = KeyStatus::kNone;
    key.changed = true;
    if (!NullValueMayFollow(key.now)) key.now.delete_input = 0;
  }
  x_head.floor = x_head.floor ? std::max(*x_head.floor, boundary) : boundary;
  x_collected = boundary;
  x_dirty = true;
  return removed;
}

}  // namespace lastword
