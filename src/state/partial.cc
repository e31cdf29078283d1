// Images with unavailable columns (unchanged out-of-line values): filled from a base when they are
// applied, and again when a late complete image shows what a carried column really was.
#include <algorithm>

#include "base/format.h"
#include "state/table_state.h"

namespace lastword {
namespace {

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

LazyRow TableState::RowOf(const PendingKey& key) const {
  LazyRow row;
  if (!key.now.live()) return row;
  if (!key.row.pending()) {
    row.address = key.now.address;
    return row;
  }
  const RowChunk& chunk = *x_chunks[key.row.chunk];
  auto single = std::make_shared<RowChunk>(chunk.schema);
  single->rows.AppendFrom(chunk.rows, key.row.row);
  row.row = std::move(single);
  return row;
}

Result<SharedRow> TableState::ReadRow(const LazyRow& row) {
  if (row.row || !row.present()) return row.row;
  const uint64_t address = row.address;
  LW_ASSIGN_OR_RETURN(RowChunk taken, x_stored.Take({&address, 1}));
  return SharedRow(std::make_shared<const RowChunk>(std::move(taken)));
}

Status TableState::MakePending(PendingKey& key) {
  if (key.row.pending()) return Ok{};
  LW_ASSIGN_OR_RETURN(const SharedRow row, ReadRow(RowOf(key)));
  const uint32_t chunk = NewChunk(row->schema);
  x_chunks[chunk]->rows.AppendFrom(row->rows, 0);
  key.row = {chunk, 0};
  return Ok{};
}

// Puts the row of `image` together with the columns `take` of the base; columns of the present
// schema.
RowRef TableState::BuildRow(RowRef image, const std::vector<std::string>& take,
                            const RowChunk& base, uint64_t base_row) {
  // A chunk is never read and appended to at once: its buffers may move.
  const bool reads_built =
      x_built != UINT32_MAX && (image.chunk == x_built || &base == x_chunks[x_built].get());
  if (reads_built) LeaveBuilt();
  if (x_built == UINT32_MAX) x_built = NewChunk(x_schema);
  RowChunk& built = *x_chunks[x_built];
  const RowChunk& own = *x_chunks[image.chunk];
  for (uint32_t i = 0; i < x_schema->columns.size(); ++i) {
    const std::string& name = x_schema->columns[i].name;
    const bool taken = Contains(take, name);
    const RowChunk& from = taken ? base : own;
    const std::optional<uint32_t> column = from.schema->Find(name);
    if (column) {
      AppendWidened(from.rows.columns[*column], taken ? base_row : image.row,
                    built.rows.columns[i]);
    } else {
      built.rows.columns[i].AppendNull();
    }
  }
  return {x_built, static_cast<uint32_t>(built.rows.size() - 1)};
}

namespace {

std::vector<std::string> NamesOf(const Schema& schema, const std::vector<uint32_t>& columns) {
  std::vector<std::string> names;
  for (const uint32_t column : columns) names.push_back(schema.columns[column].name);
  return names;
}

}  // namespace

// The values of `before` for the unavailable columns, where it has them all.
const RowChunk* TableState::BeforeOf(const Incoming& in, uint64_t& row) const {
  if (in.detail->before == kNone) return nullptr;
  const RowChunk& chunk = *x_chunks[in.chunk];
  for (const uint32_t column : in.detail->unavailable) {
    if (chunk.rows.columns[column].IsNull(in.detail->before)) return nullptr;
  }
  row = in.detail->before;
  return &chunk;
}

Status TableState::NoBase(const Incoming& in) const {
  const std::string column = x_chunks[in.chunk]->schema->columns[in.detail->unavailable[0]].name;
  Error error =
      At(in, ErrorKind::kUnavailableWithoutBase,
         Message("column {} is marked as unchanged, but no row is known whose value it keeps. "
                 "Deliver the rows first (a snapshot), or set REPLICA IDENTITY FULL at the "
                 "source",
                 column));
  error.place.column = column;
  return error;
}

Status TableState::ApplyPartial(PendingKey& key, const Incoming& in) {
  if (in.has(kKeyChangeUpsert) && !(in.detail->other_key == KeyHash{})) {
    return ApplyPartialKeyChange(key, in);
  }
  const Schema& schema = *x_chunks[in.chunk]->schema;
  const std::vector<std::string> unavailable = NamesOf(schema, in.detail->unavailable);
  const KeyExtra* extra = ExtraOf(key);
  // The row of a new key says nothing of the old key, whose name this half lacks.
  const bool of_other_key = in.has(kKeyChangeUpsert);
  if (extra != nullptr && extra->waiting && !of_other_key) {
    return MergeIntoWaiting(key, in, unavailable);
  }
  if (!key.now.live() || of_other_key) {
    uint64_t row = 0;
    const RowChunk* before = BeforeOf(in, row);
    if (before == nullptr) return NoBase(in);
    const LazyRow old_row = of_other_key ? RowOf(key) : LazyRow{};
    BecomeLive(key, in.version, in.head.digest,
               BuildRow({in.chunk, in.head.row}, unavailable, *before, row));
    MarkOverwritten(key, in, old_row);
    return Ok{};
  }
  std::vector<CarriedColumn> carried;
  for (const std::string& column : unavailable) {
    CarriedColumn& entry = carried.emplace_back(CarriedColumn{column, key.now.version()});
    if (extra == nullptr) continue;
    for (const CarriedColumn& old : extra->carried) {
      if (old.column == column) entry.from = old.from;
    }
  }
  LW_ASSIGN_OR_RETURN(const SharedRow base, ReadRow(RowOf(key)));
  const RowRef built = BuildRow({in.chunk, in.head.row}, unavailable, *base, 0);
  BecomeLive(key, in.version, in.head.digest, built);
  MutableExtra(key).carried = std::move(carried);
  return Ok{};
}

// A later partial image of a key whose newest change still waits: it waits in its place, with what
// it knows.
Status TableState::MergeIntoWaiting(PendingKey& key, const Incoming& in,
                                    const std::vector<std::string>& unavailable) {
  WaitingChange waiting = *ExtraOf(key)->waiting;
  std::vector<CarriedColumn> carried;
  for (const std::string& column : unavailable) {
    if (Contains(waiting.missing, column)) continue;
    CarriedColumn& entry = carried.emplace_back(CarriedColumn{column, waiting.version});
    for (const CarriedColumn& old : ExtraOf(key)->carried) {
      if (old.column == column) entry.from = old.from;
    }
  }
  const RowRef built = BuildRow({in.chunk, in.head.row}, unavailable, *waiting.row, 0);
  auto row = std::make_shared<RowChunk>(x_schema);
  row->rows.AppendFrom(x_chunks[built.chunk]->rows, built.row);
  std::erase_if(waiting.missing,
                [&](const std::string& column) { return !Contains(unavailable, column); });
  waiting.row = std::move(row);
  waiting.version = in.version;
  waiting.digest = in.head.digest;
  if (waiting.missing.empty()) {
    BecomeLive(key, in.version, in.head.digest, built);
  } else {
    MutableExtra(key).waiting = std::move(waiting);
  }
  MutableExtra(key).carried = std::move(carried);
  return Ok{};
}

// The columns about which a late image tells: carried from before it, or still missing since before
// it.
std::vector<std::string> TableState::FillableBy(const Incoming& in, const KeyExtra& extra) const {
  const Schema& schema = *x_chunks[in.chunk]->schema;
  std::vector<std::string> fillable;
  const auto consider = [&](const std::string& name, const Version& from) {
    const std::optional<uint32_t> column = schema.Find(name);
    if (!column || from >= in.version) return;
    if (in.partial()) {
      const std::vector<uint32_t>& missing = in.detail->unavailable;
      if (std::find(missing.begin(), missing.end(), *column) != missing.end()) return;
    }
    fillable.push_back(name);
  };
  for (const CarriedColumn& carried : extra.carried) consider(carried.column, carried.from);
  if (extra.waiting) {
    for (const std::string& name : extra.waiting->missing) {
      consider(name, extra.waiting->position);
    }
  }
  return fillable;
}

// A late image that lies between the version a carried column comes from and the row's own shows
// what the column was.
Result<bool> TableState::FillLate(PendingKey& key, const Incoming& in) {
  const KeyExtra* extra = ExtraOf(key);
  if (extra == nullptr) return false;
  const std::vector<std::string> filled = FillableBy(in, *extra);
  if (filled.empty()) return false;
  if (extra->waiting) return FillLateWaiting(key, in, filled);
  LW_RETURN_IF_ERROR(MakePending(key));
  key.row = BuildRow(key.row, filled, *x_chunks[in.chunk], in.head.row);
  for (CarriedColumn& carried : MutableExtra(key).carried) {
    if (Contains(filled, carried.column)) carried.from = in.version;
  }
  return true;
}

bool TableState::FillLateWaiting(PendingKey& key, const Incoming& in,
                                 const std::vector<std::string>& filled) {
  WaitingChange waiting = *ExtraOf(key)->waiting;
  const uint32_t chunk = NewChunk(waiting.row->schema);
  x_chunks[chunk]->rows.AppendFrom(waiting.row->rows, 0);
  const RowRef built = BuildRow({chunk, 0}, filled, *x_chunks[in.chunk], in.head.row);
  std::vector<CarriedColumn> carried = ExtraOf(key)->carried;
  std::erase_if(carried, [&](const CarriedColumn& old) { return Contains(filled, old.column); });
  for (const std::string& column : filled) carried.push_back({column, in.version});
  std::erase_if(waiting.missing,
                [&](const std::string& column) { return Contains(filled, column); });
  if (waiting.missing.empty()) {
    BecomeLive(key, waiting.version, waiting.digest, built);
  } else {
    auto row = std::make_shared<RowChunk>(x_schema);
    row->rows.AppendFrom(x_chunks[built.chunk]->rows, built.row);
    waiting.row = std::move(row);
    MutableExtra(key).waiting = std::move(waiting);
  }
  MutableExtra(key).carried = std::move(carried);
  return true;
}

}  // namespace lastword
