#include "capi/batch_writer.h"

#include <algorithm>
#include <bit>

#include "base/bytes.h"
#include "base/format.h"
#include "base/random.h"
#include "model/key.h"
#include "model/ordered.h"

namespace lastword::capi {
namespace {

constexpr size_t kRowsAtOnce = 64;
constexpr size_t kTableMin = 1 << 10;
constexpr uint64_t kPlaceBytes = 32;  // of a slot in the table, about
constexpr uint32_t kSlotsAhead = 8;
constexpr size_t kLineBytes = 64;
constexpr size_t kRowBytesAhead = 256;  // of a row that is about to be overwritten or read
constexpr uint64_t kRankOfRemoval = 1;
constexpr uint64_t kSealedHeadBytes = 48;     // a change without its key and row, at most
constexpr uint64_t kKeptBytesMax = 16 << 20;  // of the heads and columns of a part

std::string NewBatchId() {
  const std::string hex = RandomId();
  const KeyHash hash = Hash128(hex);
  std::string id;
  ByteWriter out(id);
  out.Put(hash.high);
  out.Put(hash.low);
  return id;
}

// Asks for all lines of `size` bytes.
void PrefetchBytes(const void* begin, size_t size) {
  const char* const bytes = static_cast<const char*>(begin);
  for (size_t at = 0; at < size; at += kLineBytes) __builtin_prefetch(bytes + at, 1);
  __builtin_prefetch(bytes + size - 1, 1);
}

void PrefetchRow(const StoredRow& row) {
  if (!row.empty()) PrefetchBytes(row.begin, std::min<size_t>(row.size, kRowBytesAhead));
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
      x_digester(x_schema),
      x_incoming_rows(arrival() ? x_reader.KeySchema() : x_schema) {
  x_sealed.schema = x_schema;
  x_sealed.arrival = arrival();
  ClearSealed();
  Begin();
}

void BatchWriter::Begin() {
  x_batch_id = NewBatchId();
  x_rows.Clear();
  x_table.assign(std::max(kTableMin, std::bit_ceil(2 * x_slots.size())), Place());
  x_slots.clear();
  x_versions.clear();
  x_key_bytes.clear();
  x_slots_sealed = 0;
}

uint64_t BatchWriter::bytes_held() const {
  uint64_t waiting = 0;
  for (const std::string& part : x_parts) waiting += part.size();
  return x_rows.bytes_used() + x_key_bytes.size() + x_slots.size() * (sizeof(Slot) + kPlaceBytes) +
         x_versions.size() * sizeof(Versions) + waiting;
}

Status BatchWriter::Add(std::string_view encoded, uint64_t count) {
  if (x_failed) {
    return Error{ErrorKind::kUsage, "the writer failed before: its batch is incomplete", {}};
  }
  Status read = SealRest();
  while (count > 0 && read.ok()) {
    x_incoming.clear();
    x_incoming_keys.clear();
    x_incoming_rows.Truncate(0);
    for (; count > 0 && x_incoming.size() < kRowsAtOnce && read.ok(); --count) {
      read = ReadIncoming(encoded);
    }
    FindSlots();
    for (size_t i = 0; i < x_incoming.size(); ++i) Take(x_incoming[i], i);
  }
  if (read.ok() && !encoded.empty()) {
    read = Error{ErrorKind::kUsage,
                 Message("{} bytes are left behind the last encoded row", encoded.size()),
                 {}};
  }
  x_failed = !read.ok();
  return read;
}

// Takes the next row off `encoded`. After an error the row is not among the incoming ones.
Status BatchWriter::ReadIncoming(std::string_view& encoded) {
  Incoming incoming{};
  const std::string_view before = encoded;
  LW_RETURN_IF_ERROR(
      arrival() ? x_reader.ReadKey(encoded, x_incoming_rows, incoming.kind, incoming.version)
                : x_reader.Read(encoded, x_incoming_rows, incoming.kind, incoming.version));
  ++x_rows_added;
  const uint64_t row = x_incoming.size();
  incoming.encoded = before.substr(0, before.size() - encoded.size());
  if (incoming.encoded.size() > INT32_MAX) {
    return Error{ErrorKind::kOutOfRange, "an encoded row exceeds 2 GiB", {}};
  }
  if (x_options.declared.appends) {
    LW_RETURN_IF_ERROR(AppendIdentity(incoming.kind, x_incoming_rows, x_slots.size() + row));
  }
  LW_RETURN_IF_ERROR(VersionOf(row, incoming.kind, incoming.version));
  const size_t key_begin = x_incoming_keys.size();
  const Schema& schema = arrival() ? x_reader.KeySchema() : x_schema;
  LW_RETURN_IF_ERROR(AppendKey(schema, x_incoming_rows, row, x_incoming_keys));
  const size_t key_size = x_incoming_keys.size() - key_begin;
  if (x_key_bytes.size() + x_incoming_keys.size() > UINT32_MAX) {
    return Error{ErrorKind::kOutOfRange, "the keys of a batch exceed 4 GiB; seal it earlier", {}};
  }
  incoming.key = Hash128(std::string_view(x_incoming_keys).substr(key_begin, key_size));
  incoming.key_begin = static_cast<uint32_t>(key_begin);
  incoming.key_size = static_cast<uint32_t>(key_size);
  __builtin_prefetch(&x_table[incoming.key.low & (x_table.size() - 1)]);
  x_order.Prefetch(incoming.key);
  x_incoming.push_back(incoming);
  return Ok{};
}

// The identity of row `ordinal` of a batch without a key: nothing else has this batch's id, and
// nothing in it has this place.
Status BatchWriter::AppendIdentity(RowKind kind, Rows& rows, uint64_t ordinal) const {
  if (kind != RowKind::kInsert) {
    return Error{ErrorKind::kInvalidOperation,
                 "a table without a primary key takes insertions only; declare PRIMARY KEY … NOT "
                 "ENFORCED for updates and deletes",
                 {}};
  }
  std::string place = x_batch_id;
  ByteWriter(place).Put(ordinal);
  const KeyHash identity = Hash128(place);
  rows.columns.back().AppendFixed(identity);
  return Ok{};
}

Status BatchWriter::VersionOf(uint64_t row, RowKind kind, Version& version) const {
  const VersionRule& rule = x_options.versions;
  if (rule.source != VersionRule::Source::kColumns) return Ok{};
  uint64_t* const parts[] = {&version.hi, &version.mid, &version.lo};
  for (size_t i = 0; i < rule.columns.size(); ++i) {
    const ColumnData& column = x_incoming_rows.columns[rule.columns[i]];
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

// The slot that `key` has most likely; null where it has none.
const BatchWriter::Slot* BatchWriter::LikelySlot(const KeyHash& key) const {
  const size_t mask = x_table.size() - 1;
  const uint32_t tag = TagOf(key);
  for (size_t at = key.low & mask; x_table[at].slot_after != 0; at = (at + 1) & mask) {
    if (x_table[at].tag == tag) return &x_slots[x_table[at].slot_after - 1];
  }
  return nullptr;
}

// The place of `key` in the table: of its slot, or the free one that it would take.
BatchWriter::Place& BatchWriter::PlaceOf(const KeyHash& key) {
  const size_t mask = x_table.size() - 1;
  const uint32_t tag = TagOf(key);
  size_t at = key.low & mask;
  for (; x_table[at].slot_after != 0; at = (at + 1) & mask) {
    const Place& place = x_table[at];
    if (place.tag == tag && x_slots[place.slot_after - 1].key == key) break;
  }
  return x_table[at];
}

void BatchWriter::GrowTable(size_t slots) {
  if (2 * slots <= x_table.size()) return;
  x_table.assign(4 * std::bit_ceil(slots), Place());
  for (uint32_t slot = 0; slot < x_slots.size(); ++slot) {
    PlaceOf(x_slots[slot].key) = {slot + 1, TagOf(x_slots[slot].key)};
  }
}

// Each step asks for the memory that the next one needs, of all incoming rows.
void BatchWriter::FindSlots() {
  GrowTable(x_slots.size() + x_incoming.size());
  for (const Incoming& incoming : x_incoming) {
    const Slot* const slot = LikelySlot(incoming.key);
    if (slot != nullptr) PrefetchBytes(slot, sizeof *slot);
  }
  for (Incoming& incoming : x_incoming) {
    Place& place = PlaceOf(incoming.key);
    incoming.fresh = place.slot_after == 0;
    if (incoming.fresh) {
      Slot& slot = x_slots.emplace_back();
      slot.key = incoming.key;
      slot.key_begin = static_cast<uint32_t>(x_key_bytes.size());
      slot.key_size = incoming.key_size;
      x_key_bytes.append(x_incoming_keys, incoming.key_begin, incoming.key_size);
      if (!arrival()) x_versions.emplace_back();
      place = {static_cast<uint32_t>(x_slots.size()), TagOf(incoming.key)};
    }
    incoming.slot = place.slot_after - 1;
    PrefetchRow(x_slots[incoming.slot].row);
  }
}

void BatchWriter::Take(const Incoming& incoming, uint64_t row) {
  Slot& slot = x_slots[incoming.slot];
  if (incoming.fresh) {
    x_order.Begins(slot.key, incoming.kind);
  } else {
    ++x_rows_collapsed;
    x_order.Follows(LifeOf(incoming.slot), incoming.kind);
  }
  if (arrival()) {
    TakeArrival(slot, incoming);
  } else {
    TakeVersioned(slot, x_versions[incoming.slot], incoming, row);
  }
}

RowLife BatchWriter::LifeOf(uint32_t number) const {
  const Slot& slot = x_slots[number];
  if (IsLoneUpdateBefore(number)) return RowLife::kGone;
  if (!slot.has_state) return RowLife::kUnknown;
  return slot.row.empty() ? RowLife::kGone : RowLife::kLives;
}

// A -U at or below the state was superseded, wherever it came in between.
bool BatchWriter::IsLoneUpdateBefore(uint32_t number) const {
  const Slot& slot = x_slots[number];
  if (!slot.has_update_before || arrival() || !slot.has_state) return slot.has_update_before;
  return x_versions[number].update_before > x_versions[number].version;
}

void BatchWriter::TakeArrival(Slot& slot, const Incoming& incoming) {
  if (incoming.kind == RowKind::kUpdateBefore) {
    slot.has_update_before = true;
    return;
  }
  slot.has_state = true;
  slot.has_update_before = false;
  if (incoming.kind == RowKind::kDelete) {
    x_rows.Drop(slot.row);
  } else {
    x_rows.Put(incoming.encoded, slot.row);
  }
}

void BatchWriter::TakeVersioned(Slot& slot, Versions& versions, const Incoming& incoming,
                                uint64_t row) {
  const Version& version = incoming.version;
  if (incoming.kind == RowKind::kUpdateBefore) {
    if (!slot.has_update_before || versions.update_before < version)
      versions.update_before = version;
    slot.has_update_before = true;
    return;
  }
  const bool removes = incoming.kind == RowKind::kDelete;
  if (slot.has_state && version < versions.version) return;
  const uint64_t digest = removes ? kDeleteDigest : x_digester.Digest(x_incoming_rows, row, {}, {});
  const State present{versions.version, versions.digest, slot.row};
  std::vector<State>& contradicted = versions.contradicted;
  if (slot.has_state && version == versions.version) {
    const auto same = [&](const State& state) {
      return state.version == version && state.digest == digest && state.row.empty() == removes;
    };
    if (same(present) || std::any_of(contradicted.begin(), contradicted.end(), same)) return;
    contradicted.push_back(present);  // The first one stays first when it is sealed.
    slot.row = StoredRow();
  } else if (!contradicted.empty() && contradicted.back().version == versions.version) {
    // A higher version ends a contradiction, but the table still has to report it.
    contradicted.push_back(present);
    slot.row = StoredRow();
  }
  slot.has_state = true;
  versions.version = version;
  versions.digest = digest;
  if (removes) {
    x_rows.Drop(slot.row);
  } else {
    x_rows.Put(incoming.encoded, slot.row);
  }
}

Status BatchWriter::SealState(uint32_t slot, const State& state) {
  ChangeBatch& changes = x_sealed.changes;
  ChangeHead head;
  head.key = x_slots[slot].key;
  head.version = state.version;
  head.digest = kDeleteDigest;
  head.kind = Kind::kDelete;
  head.key_begin = x_slots[slot].key_begin;
  head.key_size = x_slots[slot].key_size;
  if (!state.row.empty()) {
    std::string_view encoded = state.row.bytes();
    RowKind kind;
    Version version;
    LW_RETURN_IF_ERROR(x_reader.Read(encoded, changes.rows, kind, version));
    if (x_options.declared.appends) {
      LW_RETURN_IF_ERROR(AppendIdentity(kind, changes.rows, slot));
    }
    head.row = static_cast<uint32_t>(changes.rows.columns[0].size() - 1);
    head.digest = arrival() ? x_digester.Digest(changes.rows, head.row, {}, {}) : state.digest;
    head.kind = Kind::kUpsert;
  }
  changes.heads.push_back(head);
  return Ok{};
}

Status BatchWriter::SealSlot(uint32_t number) {
  const Slot& slot = x_slots[number];
  x_order.Remember(slot.key, LifeOf(number));
  State state;
  State gone;
  if (!arrival()) {
    const Versions& versions = x_versions[number];
    for (const State& each : versions.contradicted) {
      LW_RETURN_IF_ERROR(SealState(number, each));
    }
    state.version = versions.version;
    state.digest = versions.digest;
    gone.version = versions.update_before;
  }
  state.row = slot.row;
  if (slot.has_state) LW_RETURN_IF_ERROR(SealState(number, state));
  if (IsLoneUpdateBefore(number)) {
    LW_RETURN_IF_ERROR(SealState(number, gone));
    x_sealed.changes.heads.back().flags = kUpdateBefore;
  }
  return Ok{};
}

Result<std::string> BatchWriter::Seal() {
  if (x_failed) {
    return Error{ErrorKind::kUsage, "the writer failed before: its batch is incomplete", {}};
  }
  if (!x_parts.empty()) {
    std::string part = std::move(x_parts.front());
    x_parts.pop_front();
    return part;
  }
  if (x_slots.empty()) return std::string();
  return SealPart();
}

// Of a batch that was begun to be taken: what comes now belongs to the next one.
Status BatchWriter::SealRest() {
  while (x_slots_sealed != 0) {
    LW_ASSIGN_OR_RETURN(std::string part, SealPart());
    x_parts.push_back(std::move(part));
  }
  return Ok{};
}

Result<std::string> BatchWriter::SealPart() {
  x_sealed.id = x_batch_id;
  const Status filled = FillPart();
  x_failed = !filled.ok();
  LW_RETURN_IF_ERROR(filled);
  // The keys lie beside each other already: they are lent.
  std::swap(x_sealed.changes.key_bytes, x_key_bytes);
  Result<std::string> part = x_encoder.Encode(x_sealed);
  std::swap(x_sealed.changes.key_bytes, x_key_bytes);
  x_failed = !part.ok();
  if (x_failed) return part;
  if (x_slots_sealed == x_slots.size()) Begin();
  ClearSealed();
  return part;
}

// Its memory stays for the next part, unless a batch that was not cut has made it large.
void BatchWriter::ClearSealed() {
  ChangeBatch& changes = x_sealed.changes;
  const uint64_t heads_bytes = changes.heads.capacity() * sizeof(ChangeHead);
  if (changes.rows.columns.empty() || changes.rows.bytes_held() + heads_bytes > kKeptBytesMax) {
    changes = ChangeBatch();
    changes.rows = Rows(x_schema);
  }
  changes.heads.clear();
  changes.rows.Truncate(0);
}

// One key at least, so that there is an end to the parts.
Status BatchWriter::FillPart() {
  uint64_t part_bytes = 0;
  do {
    const uint32_t ahead = x_slots_sealed + kSlotsAhead;
    if (ahead < x_slots.size()) PrefetchRow(x_slots[ahead].row);
    LW_RETURN_IF_ERROR(SealSlot(x_slots_sealed));
    const Slot& slot = x_slots[x_slots_sealed++];
    part_bytes += kSealedHeadBytes + slot.key_size + slot.row.size;
  } while (x_slots_sealed < x_slots.size() && part_bytes < x_options.sealed_bytes_max);
  return Ok{};
}

}  // namespace lastword::capi
