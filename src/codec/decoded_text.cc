#include "codec/decoded_text.h"

#include "base/base64.h"
#include "base/format.h"
#include "base/json.h"
#include "model/key.h"
#include "model/value_rows.h"

namespace lastword::codec {
namespace {

Json ToJson(const Type& type, const Value& value) {
  struct Visitor {
    const Type& type;
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool v) const { return v; }
    Json operator()(int64_t v) const { return v; }
    Json operator()(uint64_t v) const { return v; }
    Json operator()(double v) const {
      if (v != v) return "NaN";
      if (v > 1.7976931348623157e308) return "Infinity";
      if (v < -1.7976931348623157e308) return "-Infinity";
      return v;
    }
    Json operator()(const std::string& v) const { return v; }
    Json operator()(const Decimal& v) const { return v.text; }
    Json operator()(const Bytes& v) const { return EncodeBase64(v.bytes); }
    Json operator()(const List& v) const {
      Json out = Json::array();
      for (const Value& element : v) {
        out.push_back(ToJson(type.element ? *type.element : type, element));
      }
      return out;
    }
  };
  return std::visit(Visitor{type}, value.held);
}

void AppendFlags(const ChangeHead& head, std::string& out) {
  constexpr std::pair<uint16_t, const char*> kNames[] = {
      {kSnapshotRead, "read"},          {kSnapshotEnd, "end"},
      {kNoCommitSeen, "no_commit"},     {kUnpositioned, "unpositioned"},
      {kNullValue, "null_value"},       {kKeyChangeDelete, "moved_to"},
      {kKeyChangeUpsert, "moved_from"}, {kUpdateBefore, "update_before"},
      {kArrivalVersion, "arrival"},     {kSharedOrigin, "shared_origin"}};
  for (const auto& [flag, name] : kNames) {
    if ((head.flags & flag) != 0) out += std::string(" ") + name;
  }
}

}  // namespace

std::string RowToText(const Schema& schema, const Rows& rows, uint64_t row) {
  Json out = Json::object();
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    if (rows.columns[i].IsNull(row)) continue;
    out[schema.columns[i].name] =
        ToJson(schema.columns[i].type, lastword::ReadValue(rows.columns[i], row));
  }
  return DumpJson(out);
}

std::string ChangeToText(const TableSpec& table, const ChangeBatch& batch, const ChangeHead& head) {
  const char* const sign = head.kind == Kind::kUpsert   ? "+"
                           : head.kind == Kind::kDelete ? "-"
                                                        : "truncate";
  std::string out = Message("{} {} {}/{}/{}", sign, table.name, head.version.hi, head.version.mid,
                            head.version.lo);
  if (head.kind != Kind::kTruncate) out += " key=" + KeyToText(batch.KeyOf(head));
  if (head.row != kNone) out += " " + RowToText(table.schema, batch.rows, head.row);
  AppendFlags(head, out);
  if (head.detail != kNone) {
    const ChangeDetail& detail = batch.details[head.detail];
    if (!detail.other_key_bytes.empty()) out += " other=" + KeyToText(detail.other_key_bytes);
    for (const uint32_t column : detail.unavailable) {
      out += " unavailable=" + table.schema.columns[column].name;
    }
    if (detail.before != kNone) {
      out += " before=" + RowToText(table.schema, batch.rows, detail.before);
    }
    if (!detail.origin.all_rows()) out += " origin=" + ToText(detail.origin);
  }
  return out;
}

DecodedText DecodeText(Format format, std::vector<TableSpec> tables, std::string_view text,
                       size_t chunk_bytes) {
  DecodedText out;
  const std::unique_ptr<Decoder> decoder = MakeDecoder(format, tables);
  Decoded decoded;
  ChunkPlace place{"events.ndjson", 0, 1};
  while (!text.empty()) {
    size_t size = text.size();
    if (chunk_bytes != 0 && chunk_bytes < size) {
      const size_t newline = text.find('\n', chunk_bytes);
      if (newline != std::string_view::npos) size = newline + 1;
    }
    const std::string_view chunk = text.substr(0, size);
    decoder->DecodeLines(chunk, place, size == text.size(), decoded);
    std::vector<size_t> next(tables.size(), 0);
    for (const uint32_t table : decoded.order) {
      const ChangeBatch& batch = decoded.tables[table];
      out.changes.push_back(ChangeToText(tables[table], batch, batch.heads[next[table]++]));
    }
    out.records += decoded.records;
    const std::string_view consumed = text.substr(0, decoded.bytes);
    place.byte_offset += consumed.size();
    for (const char c : consumed) place.line += c == '\n';
    text.remove_prefix(consumed.size());
    if (decoded.schema_request) {
      ++out.requests;
      tables[decoded.schema_request->table].schema = decoded.schema_request->schema;
      decoder->SetTables(tables);
      continue;
    }
    if (decoded.error) {
      out.error = decoded.error;
      break;
    }
    if (consumed.empty()) break;
  }
  out.tables = std::move(tables);
  return out;
}

TableSpec SpecOf(std::string name, const std::vector<std::pair<std::string, std::string>>& columns,
                 const std::vector<std::string>& key) {
  TableSpec spec;
  spec.name = std::move(name);
  spec.primary_key = key;
  for (const auto& [column, type] : columns) {
    Column added{column, *ParseType(type)};
    for (const std::string& part : key) added.nullable = added.nullable && part != column;
    spec.schema.columns.push_back(std::move(added));
  }
  for (const std::string& part : key) {
    spec.schema.key.push_back(*spec.schema.Find(part));
    spec.schema.nullable_key.push_back(false);
  }
  return spec;
}

TableSpec DiscoveredSpec(std::string name, const std::vector<std::string>& key) {
  TableSpec spec;
  spec.name = std::move(name);
  spec.discover = true;
  spec.primary_key = key;
  return spec;
}

}  // namespace lastword::codec
