#include "model/test_change.h"

#include <algorithm>

#include "model/digest.h"
#include "model/key.h"

namespace lastword {

Schema TestSchema(bool several_sources) {
  Schema schema;
  Column id, a, b;
  id.name = "id", id.type.kind = TypeKind::kInt64, id.nullable = false;
  a.name = "a", a.type.kind = TypeKind::kString;
  b.name = "b", b.type.kind = TypeKind::kString;
  schema.columns = {id, a, b};
  schema.key = {0};
  schema.nullable_key = {false};
  if (!several_sources) return schema;
  Column src;
  src.name = "src", src.type.kind = TypeKind::kString, src.nullable = false;
  src.from = "source.table";
  schema.columns.push_back(src);
  schema.key = {3, 0};
  schema.nullable_key = {false, false};
  return schema;
}

namespace {

void AppendText(const std::optional<std::string>& text, ColumnData& column) {
  if (text) {
    column.AppendBytes(*text);
  } else {
    column.AppendNull();
  }
}

void AppendSource(const std::string& source, Rows& rows) {
  if (!source.empty()) rows.columns[3].AppendBytes(source);
}

const Schema& SchemaFor(const std::string& source) {
  static const Schema kOneSource = TestSchema();
  static const Schema kSeveralSources = TestSchema(true);
  return source.empty() ? kOneSource : kSeveralSources;
}

std::string KeyBytes(int64_t key, const std::string& source) {
  const Schema& schema = SchemaFor(source);
  Rows rows(schema);
  rows.columns[0].AppendFixed(key);
  rows.columns[1].AppendNull();
  rows.columns[2].AppendNull();
  AppendSource(source, rows);
  std::string bytes;
  (void)AppendKey(schema, rows, 0, bytes);
  return bytes;
}

void AppendImage(const TestChange& change, Rows& rows) {
  const auto hidden = [&](const char* column) {
    return std::find(change.unavailable.begin(), change.unavailable.end(), column) !=
           change.unavailable.end();
  };
  rows.columns[0].AppendFixed(change.key);
  AppendText(hidden("a") ? std::nullopt : change.a, rows.columns[1]);
  AppendText(hidden("b") ? std::nullopt : change.b, rows.columns[2]);
  AppendSource(change.source, rows);
}

}  // namespace

ChangeBatch EmptyBatch(const std::string& input, bool several_sources) {
  ChangeBatch batch;
  batch.rows = Rows(TestSchema(several_sources));
  batch.inputs = {input};
  batch.null_values = true;
  return batch;
}

void AppendChange(const TestChange& change, uint64_t offset, ChangeBatch& batch) {
  ChangeHead head;
  head.kind = change.kind;
  head.version = change.version;
  head.flags = change.flags;
  head.offset = offset;
  if (change.kind != Kind::kTruncate) {
    const std::string key = KeyBytes(change.key, change.source);
    head.key_begin = static_cast<uint32_t>(batch.key_bytes.size());
    head.key_size = static_cast<uint32_t>(key.size());
    head.key = Hash128(key);
    head.digest = kDeleteDigest;
    batch.key_bytes += key;
  }
  ChangeDetail detail;
  for (const std::string& column : change.unavailable)
    detail.unavailable.push_back(column == "a" ? 1 : 2);
  if (change.kind == Kind::kUpsert) {
    head.row = static_cast<uint32_t>(batch.rows.size());
    AppendImage(change, batch.rows);
    head.digest =
        Digester(SchemaFor(change.source)).Digest(batch.rows, head.row, {}, detail.unavailable);
    if (change.before_a) {
      detail.before = static_cast<uint32_t>(batch.rows.size());
      TestChange before;
      before.key = change.key;
      before.source = change.source;
      before.a = change.before_a;
      AppendImage(before, batch.rows);
    }
  }
  if (change.other_key) {
    detail.other_key_bytes = KeyBytes(*change.other_key, change.source);
    detail.other_key = Hash128(detail.other_key_bytes);
  }
  if (change.kind == Kind::kTruncate && !change.source.empty()) {
    detail.origin = {{"src"}, {change.source}};
  }
  if (change.other_key || !change.unavailable.empty() || !detail.origin.all_rows()) {
    head.detail = static_cast<uint32_t>(batch.details.size());
    batch.details.push_back(std::move(detail));
  }
  batch.heads.push_back(head);
}

std::string ToText(const TestChange& change) {
  std::string text = change.kind == Kind::kTruncate ? "T" : "k" + std::to_string(change.key);
  if (!change.source.empty()) text = change.source + "." + text;
  text += change.flags & kNullValue
              ? " null"
              : "@" + ToString(change.version) + (change.kind == Kind::kDelete ? "-" : "");
  if (change.other_key) text += "<>k" + std::to_string(*change.other_key);
  if (change.kind == Kind::kUpsert) {
    text += "=" + change.a.value_or("_") + "," + change.b.value_or("_");
  }
  for (const std::string& column : change.unavailable) text += "?" + column;
  return text + (change.input == "0" ? "" : "(" + change.input + ")");
}

}  // namespace lastword
