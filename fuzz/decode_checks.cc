#include "fuzz/decode_checks.h"

#include <cstdio>
#include <cstdlib>

#include "codec/decoded_text.h"
#include "codec/value_decode.h"

namespace lastword::codec {
namespace {

/// Requests that one input may make: a schema grows with each, and a table with it.
constexpr uint32_t kRequestsMax = 64;

void Must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

std::vector<TableSpec> DeclaredTables() {
  TableSpec spec = SpecOf("t",
                          {{"id", "int64"},
                           {"v", "string"},
                           {"key", "string"},
                           {"value", "json"},
                           {"n", "int8"},
                           {"amount", "decimal(9,2)"},
                           {"at", "timestamptz_us"},
                           {"d", "date"},
                           {"t", "time_us"},
                           {"u", "uuid"},
                           {"b", "bytes"},
                           {"tags", "list<string>"},
                           {"ints", "list<int32>"},
                           {"e", "vector(2)"},
                           {"f", "float32"},
                           {"x", "float64"}},
                          {"id"});
  spec.evolution = TableSpec::Evolution::kIgnore;
  spec.type_widening = true;
  return {spec};
}

std::vector<TableSpec> DiscoveredTables() {
  std::vector<TableSpec> specs = {DiscoveredSpec("a"), DiscoveredSpec("b", {"id"})};
  specs[0].sources = {"t", "public.item"};
  specs[1].evolution = TableSpec::Evolution::kEvolve;
  return specs;
}

void CheckColumn(const ColumnData& column) {
  if (column.type().kind != TypeKind::kString && column.type().kind != TypeKind::kJson) return;
  for (uint64_t row = 0; row < column.size(); ++row) {
    Must(column.IsNull(row) || column.Bytes(row) != kUnavailableText,
         "a placeholder is never a value");
  }
}

void CheckBatches(const std::vector<TableSpec>& tables, const Decoded& out) {
  Must(out.tables.size() == tables.size(), "one batch a table");
  Must(!(out.error && out.schema_request), "one reason to stop");
  size_t heads = 0;
  for (size_t i = 0; i < tables.size(); ++i) {
    const ChangeBatch& batch = out.tables[i];
    Must(batch.rows.columns.size() == tables[i].schema.columns.size(), "one column a column");
    for (const ColumnData& column : batch.rows.columns) {
      Must(column.size() == batch.rows.size(), "columns are of one length");
      CheckColumn(column);
    }
    size_t keys = 0;
    for (const ChangeHead& head : batch.heads) {
      Must((head.row == kNone) == (head.kind != Kind::kUpsert), "upserts have rows");
      Must(head.row == kNone || head.row < batch.rows.size(), "rows exist");
      Must(head.detail == kNone || head.detail < batch.details.size(), "details exist");
      Must(head.input < batch.inputs.size(), "inputs exist");
      Must(head.kind == Kind::kTruncate || head.key_begin == keys, "keys lie one behind the other");
      keys += head.key_size;
    }
    Must(keys == batch.key_bytes.size(), "no bytes of a key are left over");
    heads += batch.heads.size();
  }
  Must(heads == out.order.size(), "every change has its place in the order");
}

void CheckLines(Format format, std::vector<TableSpec> tables, std::string_view bytes) {
  const std::unique_ptr<Decoder> decoder = MakeDecoder(format, tables);
  Decoded out;
  ChunkPlace place{"input", 0, 1};
  for (uint32_t requests = 0; requests < kRequestsMax; ++requests) {
    decoder->DecodeLines(bytes, place, true, out);
    CheckBatches(tables, out);
    Must(out.bytes <= bytes.size(), "no more is consumed than there is");
    Must(out.error || out.schema_request || out.bytes == bytes.size(), "all is consumed");
    if (!out.schema_request) return;
    Must(out.schema_request->table < tables.size(), "a request names a table");
    tables[out.schema_request->table].schema = out.schema_request->schema;
    decoder->SetTables(tables);
    bytes.remove_prefix(out.bytes);
    place.byte_offset += out.bytes;
  }
}

void CheckRecords(Format format, const std::vector<TableSpec>& tables, std::string_view bytes) {
  const std::unique_ptr<Decoder> decoder = MakeDecoder(format, tables);
  std::vector<RawRecord> records;
  while (!bytes.empty() && records.size() < 100) {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    RawRecord& record = records.emplace_back();
    record.value = bytes.substr(0, end);
    record.value_is_null = end == 0;
    record.key = bytes.substr(0, std::min<size_t>(end, 20));
    record.topic = "s.public.t";
    record.headers.emplace_back("__debezium.newkey", record.value);
    record.offset = records.size();
    bytes.remove_prefix(std::min(bytes.size(), end + 1));
  }
  Decoded out;
  decoder->DecodeRecords(records, {"s.public.t:0"}, out);
  CheckBatches(tables, out);
  Must(out.records <= records.size(), "no more is consumed than there is");
}

/// Lines decoded one after another, each by a decoder that has seen no other, so that none takes
/// the short way of events that look like one before.
DecodedText DecodeEachAlone(Format format, std::vector<TableSpec> tables, std::string_view bytes) {
  DecodedText all;
  while (!bytes.empty() && !all.error) {
    const size_t end = std::min(bytes.size(), bytes.find('\n')) + 1;
    DecodedText one = DecodeText(format, std::move(tables), bytes.substr(0, end));
    all.changes.insert(all.changes.end(), one.changes.begin(), one.changes.end());
    all.records += one.records;
    all.error = std::move(one.error);
    tables = std::move(one.tables);
    bytes.remove_prefix(std::min(bytes.size(), end));
  }
  return all;
}

}  // namespace

void CheckDecoding(Format format, std::string_view bytes) {
  CheckLines(format, DeclaredTables(), bytes);
  CheckLines(format, DiscoveredTables(), bytes);
  CheckRecords(format, DeclaredTables(), bytes);
  const DecodedText whole = DecodeText(format, DeclaredTables(), bytes);
  const DecodedText pieces = DecodeText(format, DeclaredTables(), bytes, bytes.size() / 2 + 1);
  // What stands behind a null value depends on what is known of the record in front of it.
  if (format == Format::kDebezium && !whole.error) {
    const DecodedText alone = DecodeEachAlone(format, DeclaredTables(), bytes);
    Must(!alone.error && alone.records == whole.records && alone.changes == whole.changes,
         "what was learned of other lines does not matter");
  }
  // A null-value record may be skipped where what stands in front of it is not known.
  if (format != Format::kRecords) Must(whole.changes == pieces.changes, "the cut does not matter");
}

}  // namespace lastword::codec
