// Changes that concern a whole table: truncates, the end of a snapshot, clean-up of tombstones.
#include <algorithm>

#include "base/format.h"
#include "base/planted_bug.h"
#include "state/key_index.h"
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
  if (in.has(kSharedOrigin)) {
    return At(in, ErrorKind::kUnsupportedOp,
              "a truncate of one of several source tables, whose rows cannot be told apart in this "
              "table. Put a column `from: source.table` (or source.schema, source.db, topic) into "
              "the primary key of a new table, give each source a table of its own, or delete the "
              "rows at the source");
  }
  // A floor that no truncate raised (clean-up) leaves rows below it.
  const std::optional<Version> floor = x_head.floors.OfOrigin(in.origin);
  if (floor && in.version <= *floor) {
    LW_ASSIGN_OR_RETURN(const bool rows_left, AnyLiveBelow(in.origin, in.version, nullptr, true));
    if (!rows_left) return in.version == *floor ? Outcome::kRepeat : Outcome::kStale;
  }
  const Origin removed = Planted(PlantedBug::kTruncateOfAllSources) ? Origin() : in.origin;
  LW_RETURN_IF_ERROR(RemoveAtOrBelow(removed, in.version));
  return Outcome::kApplied;
}

// Visits what is committed. The index does not know the bytes of keys: with them it takes a scan.
Status TableState::ForEachCommitted(
    bool with_bytes,
    const std::function<void(const KeyEntry& entry, std::string_view key)>& visit) const {
  if (!with_bytes) {
    x_index.ForEach([&](const KeyEntry& entry) { visit(entry, {}); });
    return Ok{};
  }
  return x_stored.ForEachKey([&](const KeyHash& hash, std::string_view key) {
    KeyEntry entry;
    if (x_index.Find(hash, entry)) visit(entry, key);
  });
}

bool TableState::Truncated(const Version& version, std::string_view key) const {
  if (x_truncated.empty()) return false;
  const std::optional<Version> at = x_truncated.Of(*x_schema, key);
  return at && version <= *at;
}

Status TableState::RemoveAtOrBelow(const Origin& origin, const Version& version) {
  // The memory of a delete whose null-value record may still come outlives the tombstone: its key
  // comes into the overlay. What can fail comes first.
  std::vector<std::pair<KeyHash, std::string>> remembered;
  const auto remember = [&](const KeyEntry& entry, std::string_view key) {
    if (!NullValueMayFollow(entry) || entry.version() > version) return;
    if (Covers(origin, *x_schema, key)) remembered.emplace_back(entry.key, key);
  };
  LW_RETURN_IF_ERROR(ForEachCommitted(!origin.all_rows(), remember));
  x_head.floors.Raise(origin, version);
  x_truncated.Raise(origin, version);
  x_dirty = true;
  // Extras may keep rows of the truncated past: their keys come into the overlay too.
  for (const auto& [key, stored] : x_extras) {
    if (Covers(origin, *x_schema, stored.key)) Load(key, stored.key);
  }
  for (const auto& [hash, key] : remembered) Load(hash, key);
  if (Planted(PlantedBug::kTruncateOnlyStored)) return Ok{};
  for (uint64_t i = 0; i < x_overlay.size(); ++i) {
    PendingKey& key = x_overlay.at(i);
    if (Covers(origin, *x_schema, BytesOf(key))) RemoveFromKey(key, version);
  }
  return Ok{};
}

void TableState::RemoveFromKey(PendingKey& key, const Version& version) {
  if (key.now.status != KeyStatus::kNone && key.now.version() <= version) {
    key.now.status = KeyStatus::kNone;
    key.row = {};
    key.changed = true;
    ForgetSeenDeletes(key);
  }
  const KeyExtra* extra = ExtraOf(key);
  if (extra == nullptr) return;
  KeyExtra& left = MutableExtra(key);
  std::erase_if(left.kept, [&](const KeptRow& kept) { return kept.position <= version; });
  if (left.waiting && left.waiting->version <= version) left.waiting.reset();
  if (key.now.status == KeyStatus::kNone && !left.waiting) {
    left.carried.clear();
    left.quarantined = false;
    left.overwritten.reset();
  }
}

Result<bool> TableState::AnyLiveBelow(const Origin& origin, const Version& version,
                                      const KeyHash* except, bool or_at) {
  const auto below = [&](const Version& row) { return row < version || (or_at && row == version); };
  bool found = false;
  const auto look = [&](const KeyEntry& entry, std::string_view key) {
    if (found || !entry.live() || !below(entry.version())) return;
    if (except != nullptr && entry.key == *except) return;
    if (!Covers(origin, *x_schema, key) || Truncated(entry.version(), key)) return;
    found = x_overlay.Find(entry.key) == nullptr;
  };
  const bool with_bytes = !origin.all_rows() || x_truncated.any_of_origins();
  LW_RETURN_IF_ERROR(ForEachCommitted(with_bytes, look));
  for (uint64_t i = 0; i < x_overlay.size() && !found; ++i) {
    const PendingKey& key = x_overlay.at(i);
    if (except != nullptr && key.now.key == *except) continue;
    found = key.now.live() && below(key.now.version()) && Covers(origin, *x_schema, BytesOf(key));
  }
  return found;
}

SnapshotEnd* TableState::EndOf(const Origin& origin) {
  for (SnapshotEnd& end : x_head.snapshot_ends) {
    if (end.origin == origin) return &end;
  }
  return nullptr;
}

bool TableState::CompletesSnapshot(const Incoming& in, const Version& end) const {
  const std::vector<InputState>& inputs = x_head.inputs.states();
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].origin != in.origin) continue;
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
  const SnapshotEnd* known = x_head.snapshot_ends.empty() ? nullptr : EndOf(in.origin);
  if (!ends && known == nullptr) return Ok{};
  const SnapshotEnd end = ends ? SnapshotEnd{in.origin, in.version, in.has(kSharedOrigin)} : *known;
  if (CompletesSnapshot(in, end.version)) {
    if (Status left = CheckRowsLeft(end, &in.head.key); !left.ok()) {
      left.error().place = At(in, left.error().kind, {}).place;
      return left;
    }
  }
  if (!ends) return Ok{};
  if (SnapshotEnd* pending = EndOf(in.origin)) {
    *pending = end;
  } else {
    x_head.snapshot_ends.push_back(end);
  }
  x_dirty = true;
  return Ok{};
}

// Rows that a completed snapshot did not contain are an error where nothing says what becomes of
// them.
Status TableState::CheckRowsLeft(const SnapshotEnd& end, const KeyHash* except) {
  const bool replace = x_options.on_resnapshot == OnResnapshot::kReplace;
  if (x_options.on_resnapshot == OnResnapshot::kMerge || (replace && !end.shared)) return Ok{};
  LW_ASSIGN_OR_RETURN(const bool rows_left, AnyLiveBelow(end.origin, end.version, except));
  if (!rows_left) return Ok{};
  if (replace) {
    return Error{ErrorKind::kUnsupportedOp,
                 "on_resnapshot: replace on a table with several sources, whose rows cannot be "
                 "told apart. Set on_resnapshot: merge, put a column `from: source.table` (or "
                 "source.schema, source.db, topic) into the primary key of a new table, or give "
                 "each source a table of its own",
                 {}};
  }
  return Error{
      ErrorKind::kSourceGap,
      "a snapshot ended, but the table holds rows that it did not contain: they were deleted while "
      "nothing was captured, or the snapshot covers only a part. Set on_resnapshot: replace to "
      "remove them, or merge to keep them",
      {}};
}

// A truncate just below the reads, also where there is no row to remove: what arrives late and lies
// below was gone when the snapshot was taken.
Status TableState::FinishSnapshot(const Origin& origin) {
  const SnapshotEnd end = *EndOf(origin);
  if (x_options.on_resnapshot == OnResnapshot::kReplace && !end.shared) {
    LW_RETURN_IF_ERROR(RemoveAtOrBelow(origin, JustBelow(end.version)));
  }
  std::erase_if(x_head.snapshot_ends, [&](const SnapshotEnd& e) { return e.origin == end.origin; });
  x_dirty = true;
  return Ok{};
}

Status TableState::EndOfInputs() {
  while (!x_head.snapshot_ends.empty()) {
    LW_RETURN_IF_ERROR(CheckRowsLeft(x_head.snapshot_ends.front(), nullptr));
    const Origin origin = x_head.snapshot_ends.front().origin;
    LW_RETURN_IF_ERROR(FinishSnapshot(origin));
  }
  return Ok{};
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
  x_head.floors.Raise({}, boundary);
  x_collected = boundary;
  x_dirty = true;
  return removed;
}

}  // namespace lastword
