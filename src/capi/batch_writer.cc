#include "capi/batch_writer.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/format.h"
#include "base/random.h"
#include "model/key.h"
#include "model/ordered.h"

namespace lastword::capi {
namespace {

// Superseded rows are dropped when they outnumber the live ones by this many.
constexpr uint64_t kDeadRowsMin = 1 << 16;
constexpr uint64_t kSlotBytes = 160;  // a slot and its place in the map, about
constexpr uint64_t kRankOfRemoval = 1;
constexpr uint64_t kSealedHeadBytes = 48;  // a change without its key and row, at most

std::string NewBatchId() {
  const std::string hex = RandomId();
  const KeyHash hash = Hash128(hex);
  std::string id;
  ByteWriter out(id);
  out.Put(hash.high);
  out.Put(hash.low);
  return id;
}

Status OrderedValue(const ColumnData& column, uint64_t row, uint64_t& out) {
  switch (column.type().kind) {
    case TypeKind::kInt8:
      out = OrderedFromSigned(column.Fixed<int8_t>(row));
      return Ok{};
    case TypeKind::kInt16:
      out = OrderedFromSigned(column.Fixed<int16_t>(row));
      return Ok{};
    case TypeKind::kInt32:
    case TypeKind::kDate:
      out = OrderedFromSigned(column.Fixed<int32_t>(row));
      return Ok{};
    case TypeKind::kInt64:
    case TypeKind::kTimeUs:
    case TypeKind::kTimestampUs:
    case TypeKind::kTimestamptzUs:
      out = OrderedFromSigned(column.Fixed<int64_t>(row));
      return Ok{};
    case TypeKind::kUint8:
      out = column.Fixed<uint8_t>(row);
      return Ok{};
    case TypeKind::kUint16:
      out = column.Fixed<uint16_t>(row);
      return Ok{};
    case TypeKind::kUint32:
      out = column.Fixed<uint32_t>(row);
      return Ok{};
    case TypeKind::kUint64:
      out = column.Fixed<uint64_t>(row);
      return Ok{};
    default:
      return Error{ErrorKind::kInternal, "a sequence column of a type without order", {}};
  }
}

}  // namespace

BatchWriter::BatchWriter(WriterOptions options)
    : x_options(std::move(options)),
      x_schema(x_options.declared.schema),
      x_reader(x_schema, x_options.declared.encoded_columns,
               x_options.versions.source == VersionRule::Source::kGiven),
      x_digester(x_schema) {
  Begin();
}

void BatchWriter::Begin() {
  x_batch_id = NewBatchId();
  x_rows = Rows(x_schema);
  x_slots.clear();
  x_by_key.clear();
  x_key_bytes.clear();
  x_live_rows = 0;
  x_rows_appended = 0;
}

uint64_t BatchWriter::bytes_held() const {
  uint64_t waiting = 0;
  for (const std::string& part : x_parts) waiting += part.size();
  return x_rows.bytes_held() + x_key_bytes.size() + x_slots.size() * kSlotBytes + waiting;
}

Status BatchWriter::Add(std::string_view encoded, uint64_t count) {
  if (x_failed) {
    return Error{ErrorKind::kUsage, "the writer failed before: its batch is incomplete", {}};
  }
  for (uint64_t i = 0; i < count; ++i) {
    Status added = AddRow(encoded);
    if (!added.ok()) {
      x_failed = true;
      return added;
    }
  }
  if (!encoded.empty()) {
    x_failed = true;
    return Error{ErrorKind::kUsage,
                 Message("{} bytes are left behind the last encoded row", encoded.size()),
                 {}};
  }
  if (x_rows.size() > 2 * x_live_rows + kDeadRowsMin) DropDeadRows();
  return Ok{};
}

Status BatchWriter::AddRow(std::string_view& encoded) {
  RowKind kind;
  Version version;
  LW_RETURN_IF_ERROR(x_reader.Read(encoded, x_rows, kind, version));
  ++x_counts.rows_added;
  if (x_options.declared.appends) LW_RETURN_IF_ERROR(AppendIdentity(kind));
  return Take(x_rows.columns[0].size() - 1, kind, version);
}

// The identity of a row without a key: nothing else has this batch's id, and nothing in it has this
// place.
Status BatchWriter::AppendIdentity(RowKind kind) {
  if (kind != RowKind::kInsert) {
    return Error{ErrorKind::kInvalidOperation,
                 "a table without a primary key takes insertions only; declare PRIMARY KEY … NOT "
                 "ENFORCED for updates and deletes",
                 {}};
  }
  std::string place = x_batch_id;
  ByteWriter(place).Put(x_rows_appended++);
  const KeyHash identity = Hash128(place);
  x_rows.columns.back().AppendFixed(identity);
  return Ok{};
}

Status BatchWriter::VersionOf(uint64_t row, RowKind kind, Version& version) const {
  const VersionRule& rule = x_options.versions;
  if (rule.source != VersionRule::Source::kColumns) return Ok{};
  uint64_t* const parts[] = {&version.hi, &version.mid, &version.lo};
  for (size_t i = 0; i < rule.columns.size(); ++i) {
    const ColumnData& column = x_rows.columns[rule.columns[i]];
    if (column.IsNull(row)) {
      Error error{ErrorKind::kNoVersion,
                  "a sequence column is NULL, so the change has no version; choose columns that "
                  "every change carries, deletes too",
                  {}};
      error.place.column = x_schema.columns[rule.columns[i]].name;
      return error;
    }
    LW_RETURN_IF_ERROR(OrderedValue(column, row, *parts[i]));
  }
  if (rule.removals_rank_above && IsRemoval(kind)) version.lo = kRankOfRemoval;
  return Ok{};
}

BatchWriter::Slot& BatchWriter::SlotOf(std::string_view key, bool& fresh) {
  const KeyHash hash = Hash128(key);
  const auto [found, inserted] = x_by_key.try_emplace(hash, static_cast<uint32_t>(x_slots.size()));
  fresh = inserted;
  if (inserted) {
    Slot slot;
    slot.key = hash;
    slot.key_begin = x_key_bytes.size();
    slot.key_size = static_cast<uint32_t>(key.size());
    x_key_bytes += key;
    x_slots.push_back(std::move(slot));
  }
  return x_slots[found->second];
}

Status BatchWriter::Take(uint64_t row, RowKind kind, Version version) {
  LW_RETURN_IF_ERROR(VersionOf(row, kind, version));
  x_key.clear();
  LW_RETURN_IF_ERROR(AppendKey(x_schema, x_rows, row, x_key));
  bool fresh = false;
  Slot& slot = SlotOf(x_key, fresh);
  if (!fresh) {
    ++x_counts.rows_collapsed;
    CountOrder(slot, kind);
  }
  const bool taken = x_options.versions.source == VersionRule::Source::kArrival
                         ? TakeArrival(slot, kind, row)
                         : TakeVersioned(slot, kind, row, version);
  if (!taken || IsRemoval(kind)) x_rows.Truncate(row);
  return Ok{};
}

// Orders within one batch that no changelog of a key has: a sign that its changes came by several
// ways and were overtaken.
void BatchWriter::CountOrder(const Slot& slot, RowKind kind) {
  const bool lives = slot.has_state && slot.state.row != kNone && !slot.has_update_before;
  const bool gone = slot.has_state && slot.state.row == kNone && !slot.has_update_before;
  if ((kind == RowKind::kInsert && lives) || (IsRemoval(kind) && (gone || slot.has_update_before)))
    ++x_counts.suspected_inversions;
}

bool BatchWriter::TakeArrival(Slot& slot, RowKind kind, uint64_t row) {
  if (kind == RowKind::kUpdateBefore) {
    slot.has_update_before = true;
    return false;
  }
  if (slot.has_state && slot.state.row != kNone) --x_live_rows;
  slot.has_state = true;
  slot.has_update_before = false;
  slot.state.row = kind == RowKind::kDelete ? kNone : static_cast<uint32_t>(row);
  if (slot.state.row != kNone) ++x_live_rows;
  return true;
}

bool BatchWriter::TakeVersioned(Slot& slot, RowKind kind, uint64_t row, const Version& version) {
  if (kind == RowKind::kUpdateBefore) {
    if (!slot.has_update_before || slot.update_before < version) slot.update_before = version;
    slot.has_update_before = true;
    return false;
  }
  State next;
  next.version = version;
  const bool removes = kind == RowKind::kDelete;
  next.digest = removes ? kDeleteDigest : x_digester.Digest(x_rows, row, {}, {});
  next.row = removes ? kNone : static_cast<uint32_t>(row);
  if (slot.has_state && version < slot.state.version) return false;
  if (slot.has_state && version == slot.state.version) {
    const auto same = [&](const State& state) {
      return state.version == version && state.digest == next.digest &&
             (state.row == kNone) == removes;
    };
    if (same(slot.state) || std::any_of(slot.contradicted.begin(), slot.contradicted.end(), same))
      return false;
    slot.contradicted.push_back(slot.state);  // The first one stays first when it is sealed.
  } else if (!slot.contradicted.empty() && slot.contradicted.back().version == slot.state.version) {
    // A higher version ends a contradiction, but the table still has to report it.
    slot.contradicted.push_back(slot.state);
  } else if (slot.has_state && slot.state.row != kNone) {
    --x_live_rows;
  }
  slot.has_state = true;
  slot.state = next;
  if (!removes) ++x_live_rows;
  return true;
}

void BatchWriter::DropDeadRows() {
  Rows live(x_schema);
  const auto move = [&](State& state) {
    if (state.row == kNone) return;
    live.AppendFrom(x_rows, state.row);
    state.row = static_cast<uint32_t>(live.size() - 1);
  };
  for (Slot& slot : x_slots) {
    for (State& state : slot.contradicted) move(state);
    if (slot.has_state) move(slot.state);
  }
  x_rows = std::move(live);
}

void BatchWriter::SealSlot(const Slot& slot, SealedChanges& sealed) {
  ChangeBatch& changes = sealed.changes;
  const auto add = [&](const State& state, uint16_t flags) {
    ChangeHead head;
    head.key = slot.key;
    head.version = state.version;
    head.row = state.row;
    head.kind = state.row == kNone ? Kind::kDelete : Kind::kUpsert;
    head.digest =
        state.row == kNone ? kDeleteDigest : x_digester.Digest(changes.rows, state.row, {}, {});
    head.flags = flags;
    head.key_begin = static_cast<uint32_t>(slot.key_begin);
    head.key_size = slot.key_size;
    changes.heads.push_back(head);
  };
  for (const State& state : slot.contradicted) add(state, 0);
  if (slot.has_state) add(slot.state, 0);
  // A -U at or below the state was superseded, wherever it came in between.
  const bool lone = slot.has_update_before &&
                    (sealed.arrival || !slot.has_state || slot.update_before > slot.state.version);
  if (lone) {
    State gone;
    gone.version = slot.update_before;
    add(gone, kUpdateBefore);
  }
}

Result<std::string> BatchWriter::Seal() {
  if (x_failed) {
    return Error{ErrorKind::kUsage, "the writer failed before: its batch is incomplete", {}};
  }
  if (x_key_bytes.size() > UINT32_MAX) {
    return Error{ErrorKind::kOutOfRange, "the keys of a batch exceed 4 GiB; seal it earlier", {}};
  }
  if (x_parts.empty()) SealParts();
  if (x_parts.empty()) return std::string();
  std::string part = std::move(x_parts.front());
  x_parts.pop_front();
  return part;
}

void BatchWriter::SealParts() {
  SealedChanges sealed;
  sealed.id = x_batch_id;
  sealed.schema = x_schema;
  sealed.arrival = x_options.versions.source == VersionRule::Source::kArrival;
  const uint64_t row_bytes = x_rows.size() == 0 ? 0 : x_rows.bytes_held() / x_rows.size();
  sealed.changes.key_bytes = std::move(x_key_bytes);
  sealed.changes.rows = std::move(x_rows);
  uint64_t part_bytes = 0;
  for (size_t i = 0; i < x_slots.size(); ++i) {
    SealSlot(x_slots[i], sealed);
    part_bytes += kSealedHeadBytes + x_slots[i].key_size + row_bytes;
    if (part_bytes < x_options.sealed_bytes_max && i + 1 < x_slots.size()) continue;
    x_parts.push_back(EncodeSealed(sealed));
    sealed.changes.heads.clear();
    part_bytes = 0;
  }
  Begin();
}

}  // namespace lastword::capi
