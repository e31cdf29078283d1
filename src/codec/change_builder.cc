#include "codec/change_builder.h"

#include <algorithm>

#include "base/format.h"
#include "codec/schema_discovery.h"
#include "model/key.h"
#include "model/ordered.h"
#include "model/value_rows.h"

namespace lastword::codec {

using Part = ImageReader::Part;

namespace {
// Of one column and call: a chunk of usual lines fills less.
constexpr uint64_t kRoomBytesMax = 4 << 20;
}  // namespace

ChangeBuilder::ChangeBuilder(const std::vector<TableSpec>& tables) {
  SetTables(tables);
}

void ChangeBuilder::SetTables(const std::vector<TableSpec>& tables) {
  x_plans.clear();
  for (uint32_t i = 0; i < tables.size(); ++i) {
    x_plans.push_back(std::make_unique<TablePlan>(i, tables[i]));
  }
}

void ChangeBuilder::Start(Decoded& out) {
  x_out = &out;
  out.tables.resize(x_plans.size());
  for (size_t i = 0; i < x_plans.size(); ++i) {
    ChangeBatch& batch = out.tables[i];
    batch.heads.clear();
    batch.details.clear();
    batch.key_bytes.clear();
    // Memory is kept where the columns are still those of the schema.
    const Schema& schema = x_plans[i]->schema;
    bool same = batch.rows.columns.size() == schema.columns.size();
    for (size_t c = 0; same && c < schema.columns.size(); ++c) {
      same = batch.rows.columns[c].type() == schema.columns[c].type;
    }
    if (same) {
      batch.rows.Truncate(0);
    } else {
      batch.rows = Rows(schema);
    }
    for (size_t c = 0; c < schema.columns.size(); ++c) {
      const TablePlan::Filled& filled = x_plans[i]->filled[c];
      batch.rows.columns[c].Reserve(filled.rows, filled.bytes);
    }
  }
  out.order.clear();
  out.records = 0;
  out.alike = 0;
  out.bytes = 0;
  out.schema_request.reset();
  out.error.reset();
}

void ChangeBuilder::Finish() {
  for (const std::unique_ptr<TablePlan>& plan : x_plans) {
    const Rows& rows = x_out->tables[plan->index].rows;
    for (size_t c = 0; c < rows.columns.size(); ++c) {
      const uint64_t bytes = rows.columns[c].raw_bytes().size();
      // A little more, so that chunks of about one size need no second allocation. One huge value
      // says nothing of the next ones.
      plan->filled[c] = {rows.columns[c].size(), bytes > kRoomBytesMax ? 0 : bytes + bytes / 16};
    }
  }
}

void ChangeBuilder::StartRecord() {
  x_table = kNone;
  x_stop.error.reset();
  x_stop.schema.reset();
}

void ChangeBuilder::Enter(TablePlan& plan) {
  if (x_table == plan.index) return;
  x_table = plan.index;
  const ChangeBatch& out = batch(plan);
  x_mark = Mark{out.heads.size(), out.details.size(), out.key_bytes.size(), x_out->order.size(),
                out.rows.size()};
}

void ChangeBuilder::RollBack() {
  if (x_table == kNone) return;
  ChangeBatch& out = x_out->tables[x_table];
  out.heads.resize(x_mark.heads);
  out.details.resize(x_mark.details);
  out.key_bytes.resize(x_mark.key_bytes);
  out.rows.Truncate(x_mark.rows);
  x_out->order.resize(x_mark.order);
}

ChangeHead& ChangeBuilder::AddHead(TablePlan& plan, const Record& record, Kind kind) {
  ChangeHead& head = batch(plan).heads.emplace_back();
  head.kind = kind;
  head.offset = record.offset;
  head.line = record.line;
  head.input = record.input;
  x_out->order.push_back(plan.index);
  return head;
}

ChangeDetail& ChangeBuilder::DetailOf(TablePlan& plan, ChangeHead& head) {
  ChangeBatch& out = batch(plan);
  if (head.detail == kNone) {
    head.detail = static_cast<uint32_t>(out.details.size());
    out.details.emplace_back();
  }
  return out.details[head.detail];
}

namespace {

void SetKey(ChangeBatch& batch, ChangeHead& head, std::string_view key) {
  head.key_begin = static_cast<uint32_t>(batch.key_bytes.size());
  head.key_size = static_cast<uint32_t>(key.size());
  batch.key_bytes.append(key);
  head.key = Hash128(key);
}

void SetOther(ChangeDetail& detail, std::string_view key) {
  detail.other_key_bytes = key;
  if (!key.empty()) detail.other_key = Hash128(key);
}

// A delete carries the declared columns of the row that it removes, so it is newer than the upsert
// with the same values. Three columns leave no room for that; an offset is the delete's own.
Version AboveItsRow(const TablePlan& plan, Version version) {
  const bool of_row = std::any_of(plan.sequence.begin(), plan.sequence.end(),
                                  [](uint32_t column) { return column != kOffsetColumn; });
  if (of_row && plan.sequence.size() < 3) ++version.lo;
  return version;
}

}  // namespace

bool ChangeBuilder::ReadRow(TablePlan& plan, const Record& record, const Image& after,
                            const ChangeMeta& meta, uint64_t row) {
  Rows& rows = batch(plan).rows;
  if (!x_reader.Read(plan, after, FormsOf(plan, meta), meta.fields, rows, x_stop)) {
    return x_stop.schema && x_stop.schema->key.empty() && NeedKey(plan, after.value);
  }
  if (plan.schema.key.empty()) return NeedKey(plan, after.value);
  if (!FillMetadata(plan, record, meta.source, false, rows)) return false;
  for (const uint32_t column : x_reader.unavailable()) {
    if (plan.is_key[column] != 0) return UnavailableKey(plan.schema.columns[column].name);
  }
  return AppendCanonicalKey(plan, rows, row, x_key);
}

bool ChangeBuilder::UnavailableKey(const std::string& column) {
  return x_stop.Fail(ErrorKind::kUnavailableKey,
                     Message("key column `{}` holds the placeholder of an unchanged value, so the "
                             "row cannot be told; set REPLICA IDENTITY FULL on the source table",
                             column),
                     column);
}

bool ChangeBuilder::Upsert(TablePlan& plan, const Record& record, const Image& after,
                           const Image& before, const ChangeMeta& meta,
                           const Version& delete_version) {
  Enter(plan);
  x_fields = meta.fields;
  ChangeBatch& out = batch(plan);
  const uint64_t row = out.rows.size();
  if (!NameKey(plan, record) || !ReadRow(plan, record, after, meta, row)) return false;
  Version version = meta.version;
  Version version_of_delete = delete_version;
  uint16_t flags = meta.flags;
  if (!plan.sequence.empty()) {
    if (!DeclaredVersion(plan, out.rows, row, record, version)) return false;
    version_of_delete = AboveItsRow(plan, version);
    flags &= ~(kNoCommitSeen | kArrivalVersion | kUnpositioned);
  } else if (!meta.has_version) {
    return x_stop.Fail(ErrorKind::kNoVersion,
                       "the record has no version; declare sequence_columns for its table");
  }
  const bool has_before = before.kind() == JsonKind::kObject;
  bool has_before_key = false;
  if (has_before && !BeforeKey(plan, record, before, meta, has_before_key)) return false;
  const bool moved = has_before_key && x_other_key != x_key;
  if (moved) {
    ChangeHead& gone = AddHead(plan, record, Kind::kDelete);
    gone.version = version_of_delete;
    gone.digest = kDeleteDigest;
    gone.flags = flags | kKeyChangeDelete;
    SetKey(out, gone, x_other_key);
    SetOther(DetailOf(plan, gone), x_key);
  }
  ChangeHead& head = AddHead(plan, record, Kind::kUpsert);
  head.version = version;
  head.flags = flags;
  head.row = static_cast<uint32_t>(row);
  head.digest = plan.digester.Digest(out.rows, row, x_reader.absent(), x_reader.unavailable());
  SetKey(out, head, x_key);
  if ((flags & kSnapshotEnd) != 0) head.flags |= SharedOrigin(plan, meta);
  if (moved || OtherKey(plan, record, "__debezium.oldkey", x_other_key)) {
    head.flags |= kKeyChangeUpsert;
    SetOther(DetailOf(plan, head), x_other_key);
  }
  if (x_reader.unavailable().empty()) return true;
  ChangeDetail& detail = DetailOf(plan, head);
  detail.unavailable = x_reader.unavailable();
  return !has_before || BeforeValues(plan, before, meta, detail.before);
}

uint16_t ChangeBuilder::SharedOrigin(const TablePlan& plan, const ChangeMeta& meta) const {
  const bool told_apart =
      meta.with_schemas ? plan.told_apart_with_schemas : plan.told_apart_without_schemas;
  return told_apart ? 0 : kSharedOrigin;
}

// A truncate has no key, but it has the values of its origin columns.
bool ChangeBuilder::SetOrigin(TablePlan& plan, const Record& record, const ChangeMeta& meta,
                              ChangeHead& head) {
  Origin origin;
  for (const std::string& name : plan.origin_columns) {
    for (const MetadataColumn& filled : plan.metadata) {
      const Column& column = plan.schema.columns[filled.column];
      if (column.name != name) continue;
      ColumnData value(column.type);
      if (!FillOne(filled, column, record, meta.source, value)) return false;
      if (value.IsNull(0)) {
        return x_stop.Fail(ErrorKind::kMissingKey,
                           Message("the truncate has no {}, which is part of the key, so it does "
                                   "not say whose rows it removes; keep `source` at the source's "
                                   "transforms",
                                   column.from),
                           name);
      }
      origin.columns.push_back(name);
      origin.values.emplace_back(value.Bytes(0));
    }
  }
  if (!origin.all_rows()) DetailOf(plan, head).origin = std::move(origin);
  return true;
}

bool ChangeBuilder::Delete(TablePlan& plan, const Record& record, const Image& before,
                           const ChangeMeta& meta) {
  Enter(plan);
  x_fields = meta.fields;
  if (!CollectKey(plan, record, before, meta)) return false;
  Version version = meta.version;
  uint16_t flags = meta.flags;
  if (!plan.sequence.empty()) {
    bool by_place = true;
    for (const uint32_t column : plan.sequence) by_place &= column == kOffsetColumn;
    // A null-value record has no columns, but it may have a declared place.
    if ((flags & kNullValue) == 0 || by_place) {
      if (!DeclaredVersion(plan, plan.image_key, 0, record, version)) return false;
      if ((flags & kUpdateBefore) == 0) version = AboveItsRow(plan, version);
      flags &= ~(kNoCommitSeen | kArrivalVersion | kUnpositioned | kNullValue);
    }
  } else if (!meta.has_version && (flags & kNullValue) == 0) {
    return x_stop.Fail(ErrorKind::kNoVersion,
                       "the record has no version; declare sequence_columns for its table");
  }
  ChangeHead& head = AddHead(plan, record, Kind::kDelete);
  head.version = version;
  head.digest = kDeleteDigest;
  head.flags = flags;
  SetKey(batch(plan), head, x_key);
  if ((flags & kNullValue) == 0 && OtherKey(plan, record, "__debezium.newkey", x_other_key)) {
    head.flags |= kKeyChangeDelete;
    SetOther(DetailOf(plan, head), x_other_key);
  }
  return true;
}

bool ChangeBuilder::Truncate(TablePlan& plan, const Record& record, const ChangeMeta& meta) {
  Enter(plan);
  if (!plan.sequence.empty() || !meta.has_version) {
    return x_stop.Fail(ErrorKind::kUnsupportedOp,
                       "a truncate has no row, so its version cannot come from sequence_columns; "
                       "remove them, or filter truncates at the source");
  }
  ChangeHead& head = AddHead(plan, record, Kind::kTruncate);
  head.version = meta.version;
  head.digest = kDeleteDigest;
  head.flags = meta.flags | SharedOrigin(plan, meta);
  return SetOrigin(plan, record, meta, head);
}

bool ChangeBuilder::AppendCanonicalKey(TablePlan& plan, const Rows& rows, uint64_t row,
                                       std::string& out) {
  out.clear();
  if (Status status = AppendKey(plan.schema, rows, row, out); !status.ok()) {
    x_stop.error = std::move(status.error());
    return false;
  }
  return true;
}

bool ChangeBuilder::DeclaredVersion(TablePlan& plan, const Rows& rows, uint64_t row,
                                    const Record& record, Version& version) {
  uint64_t* const parts[] = {&version.hi, &version.mid, &version.lo};
  version = Version{};
  for (size_t i = 0; i < plan.sequence.size() && i < 3; ++i) {
    const uint32_t column = plan.sequence[i];
    if (column == kOffsetColumn) {
      *parts[i] = record.offset;
      continue;
    }
    const std::string& name = plan.spec.sequence_columns[i];
    if (column == kNone || row >= rows.columns[column].size() || rows.columns[column].IsNull(row)) {
      return x_stop.Fail(ErrorKind::kNoVersion,
                         Message("sequence column `{}` is NULL or absent, so the change has no "
                                 "version; choose columns that every image carries",
                                 name),
                         name);
    }
    const ColumnData& data = rows.columns[column];
    switch (data.type().kind) {
      case TypeKind::kInt8:
        *parts[i] = OrderedFromSigned(data.Fixed<int8_t>(row));
        break;
      case TypeKind::kInt16:
        *parts[i] = OrderedFromSigned(data.Fixed<int16_t>(row));
        break;
      case TypeKind::kInt32:
      case TypeKind::kDate:
        *parts[i] = OrderedFromSigned(data.Fixed<int32_t>(row));
        break;
      case TypeKind::kInt64:
      case TypeKind::kTimeUs:
      case TypeKind::kTimestampUs:
      case TypeKind::kTimestamptzUs:
        *parts[i] = OrderedFromSigned(data.Fixed<int64_t>(row));
        break;
      case TypeKind::kUint8:
        *parts[i] = data.Fixed<uint8_t>(row);
        break;
      case TypeKind::kUint16:
        *parts[i] = data.Fixed<uint16_t>(row);
        break;
      case TypeKind::kUint32:
        *parts[i] = data.Fixed<uint32_t>(row);
        break;
      case TypeKind::kUint64:
        *parts[i] = data.Fixed<uint64_t>(row);
        break;
      default:
        return x_stop.Fail(ErrorKind::kNoVersion,
                           Message("sequence column `{}` is {}; a version needs an integer, date, "
                                   "time or timestamp",
                                   name, ToString(data.type())),
                           name);
    }
  }
  return true;
}

}  // namespace lastword::codec
