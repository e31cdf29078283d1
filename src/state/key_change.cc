// Key changes: a delete of the old key and an upsert of the new one at one position. The halves may
// come apart, and inside one transaction keys may be swapped.
#include <algorithm>

#include "base/format.h"
#include "base/planted_bug.h"
#include "state/law.h"
#include "state/table_state.h"

namespace lastword {
namespace {

// Rank lies in the two lowest bits of lo (docs/ordering.md).
constexpr uint64_t kRankBits = 3;
constexpr uint64_t kRankDelete = 1;

bool SamePosition(const Version& a, const Version& b) {
  return a.epoch == b.epoch && a.hi == b.hi && a.mid == b.mid &&
         (a.lo & ~kRankBits) == (b.lo & ~kRankBits);
}

Version DeleteHalfOf(Version position) {
  position.lo = (position.lo & ~kRankBits) | kRankDelete;
  return position;
}

}  // namespace

// A key that waits has no row yet that a further key change could take along or take the place of.
Status TableState::CheckNotWaiting(const PendingKey& key, const Incoming& in) const {
  const KeyExtra* extra = ExtraOf(key);
  if (extra == nullptr || !extra->waiting) return Ok{};
  return At(in, ErrorKind::kPkOverlapInTransaction,
            "the key changes again while an earlier change of it still waits for unavailable "
            "columns of its old key. Deliver both halves of a key change in order (one partition), "
            "or set REPLICA IDENTITY FULL at the source");
}

Status TableState::ApplyKeyChangeDelete(PendingKey& key, const Incoming& in) {
  LW_RETURN_IF_ERROR(CheckNotWaiting(key, in));
  const KeyExtra* extra = ExtraOf(key);
  // What can fail comes first: an error leaves the key as it was, so that the record can be
  // delivered again.
  if (extra != nullptr && extra->overwritten && extra->overwritten->epoch == in.version.epoch &&
      extra->overwritten->hi == in.transaction) {
    // A swap: this delete means the row that the upsert half of the same transaction took the place
    // of.
    LW_RETURN_IF_ERROR(MakePending(key));
    LW_RETURN_IF_ERROR(HandOver(in, extra->overwritten->row));
    Version past = in.version;
    ++past.lo;
    key.now.set_version(past);
    MutableExtra(key).overwritten.reset();
    return Ok{};
  }
  LW_RETURN_IF_ERROR(HandOver(in, RowOf(key)));
  BecomeTombstone(key, in.version);
  return Ok{};
}

// Gives the removed row to the upsert half that waits for it, or keeps it for the one to come.
Status TableState::HandOver(const Incoming& in, LazyRow row) {
  KeyHash new_key = in.detail != nullptr ? in.detail->other_key : KeyHash{};
  if (new_key == KeyHash{}) {
    const auto [begin, end] = x_waiting_by_old.equal_range(in.head.key);
    for (auto it = begin; it != end; ++it) {
      const KeyExtra* extra = ExtraOf(Load(it->second, {}));
      if (extra != nullptr && extra->waiting &&
          SamePosition(extra->waiting->position, in.version)) {
        new_key = it->second;
      }
    }
  }
  if (!(new_key == KeyHash{})) {
    const std::string_view bytes =
        in.detail != nullptr ? std::string_view(in.detail->other_key_bytes) : std::string_view();
    PendingKey& other = Load(new_key, bytes);
    const KeyExtra* extra = ExtraOf(other);
    if (extra != nullptr && extra->waiting && extra->waiting->old_key == in.head.key &&
        SamePosition(extra->waiting->position, in.version)) {
      return FillWaiting(other, in, row);
    }
    // The upsert half, or something newer, was decided already: it needed nothing.
    const std::optional<StoredChange> state = StateOf(other);
    Version upsert_half = in.version;
    ++upsert_half.lo;
    if (state && state->version >= upsert_half) return Ok{};
  }
  if (!row.present() || Planted(PlantedBug::kKeptRowDropped)) return Ok{};
  MutableExtra(Load(in.head.key, {})).kept.push_back({in.version, new_key, std::move(row)});
  return Ok{};
}

Status TableState::ApplyPartialKeyChange(PendingKey& key, const Incoming& in) {
  const Schema& schema = *x_chunks[in.chunk]->schema;
  std::vector<std::string> unavailable;
  for (const uint32_t column : in.detail->unavailable)
    unavailable.push_back(schema.columns[column].name);

  PendingKey& old_key = Load(in.detail->other_key, in.detail->other_key_bytes);
  const KeyExtra* old_extra = ExtraOf(old_key);
  LazyRow base;
  if (old_extra != nullptr) {
    for (const KeptRow& kept : old_extra->kept) {
      if (SamePosition(kept.position, in.version)) base = kept.row;
    }
  }
  uint64_t base_row = 0;
  SharedRow read;
  const RowChunk* chunk = nullptr;
  if (base.present()) {
    LW_ASSIGN_OR_RETURN(read, ReadRow(base));
    chunk = read.get();
  } else {
    chunk = BeforeOf(in, base_row);
  }
  if (chunk == nullptr) {
    const std::optional<StoredChange> old_state = StateOf(old_key);
    const Version delete_half = DeleteHalfOf(in.version);
    const std::optional<Version> floor = FloorOf(old_key);
    const bool deleted = (old_state && old_state->version >= delete_half) ||
                         (!old_state && floor && delete_half <= *floor);
    if (deleted) return NoBase(in);
    auto row = std::make_shared<RowChunk>(x_chunks[in.chunk]->schema);
    row->rows.AppendFrom(x_chunks[in.chunk]->rows, in.head.row);
    // From here on, carried columns are those of what waits, not of the row that it will replace.
    KeyExtra& extra = MutableExtra(key);
    extra.carried.clear();
    extra.waiting = WaitingChange{in.version,           in.version,  in.head.digest,
                                  in.detail->other_key, unavailable, std::move(row)};
    x_waiting_by_old.emplace(in.detail->other_key, in.head.key);
    return Ok{};
  }
  const LazyRow old_row = RowOf(key);
  BecomeLive(key, in.version, in.head.digest,
             BuildRow({in.chunk, in.head.row}, unavailable, *chunk, base_row));
  MarkOverwritten(key, in, old_row);
  if (Planted(PlantedBug::kFillAcrossKeyChange)) {
    for (const std::string& column : unavailable) MutableExtra(key).carried.push_back({column, {}});
  }
  ReleaseKept(in);
  return Ok{};
}

Status TableState::FillWaiting(PendingKey& key, const Incoming& in, const LazyRow& base) {
  const WaitingChange waiting = *ExtraOf(key)->waiting;
  const std::optional<Version> floor = FloorOf(key);
  if (floor && waiting.version <= *floor && !key.now.live()) {
    // The floor was raised past it: it comes too late, like any change without a row to replace.
    MutableExtra(key).waiting.reset();
    ++x_counts.below_floor;
    ++x_head.totals.below_floor;
    return Ok{};
  }
  if (!base.present()) {
    Error error =
        At(in, ErrorKind::kUnavailableWithoutBase,
           Message("a change of this key waits for column {}, but the key had no row. Deliver the "
                   "rows first (a snapshot), or set REPLICA IDENTITY FULL at the source",
                   waiting.missing[0]));
    error.place.column = waiting.missing[0];
    return error;
  }
  LW_ASSIGN_OR_RETURN(const SharedRow row, ReadRow(base));
  const uint32_t chunk = NewChunk(waiting.row->schema);
  x_chunks[chunk]->rows.AppendFrom(waiting.row->rows, 0);
  const RowRef built = BuildRow({chunk, 0}, waiting.missing, *row, 0);
  const LazyRow old_row = RowOf(key);
  std::vector<CarriedColumn> carried = ExtraOf(key)->carried;
  // A later image that left them alone was merged into the change: one that lies between still
  // tells.
  if (waiting.version > waiting.position) {
    for (const std::string& column : waiting.missing) carried.push_back({column, waiting.position});
  }
  BecomeLive(key, waiting.version, waiting.digest, built);
  MarkOverwritten(key, in, old_row);
  if (!carried.empty()) MutableExtra(key).carried = std::move(carried);
  return Ok{};
}

void TableState::ReleaseKept(const Incoming& in) {
  if (!in.has(kKeyChangeUpsert) || in.detail == nullptr || in.detail->other_key == KeyHash{})
    return;
  PendingKey& old_key = Load(in.detail->other_key, in.detail->other_key_bytes);
  const KeyExtra* extra = ExtraOf(old_key);
  if (extra == nullptr || extra->kept.empty()) return;
  std::erase_if(MutableExtra(old_key).kept,
                [&](const KeptRow& kept) { return SamePosition(kept.position, in.version); });
}

// With the changes of each key in their order, only a swap finds a row in its place: a delete would
// have come before.
void TableState::MarkOverwritten(PendingKey& key, const Incoming& in, LazyRow old_row) {
  if (!old_row.present() || Planted(PlantedBug::kSwapUnmarked)) return;
  MutableExtra(key).overwritten =
      OverwrittenRow{in.version.epoch, in.transaction, std::move(old_row)};
}

}  // namespace lastword
