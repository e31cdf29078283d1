#include "codec/changelog/changelog.h"

#include "base/format.h"

namespace lastword::codec {

bool ChangelogReader::Read(const Record& record) {
  Stop& stop = x_builder.stop();
  x_image = {};
  if (!record.value) {
    return stop.Fail(ErrorKind::kBadEnvelope,
                     "a null value where a changelog entry is expected; a changelog deletes with "
                     "kind -D");
  }
  const JsonDoc& doc = *record.value.doc;
  JsonFault fault;
  JsonRef kind, row;
  if (record.value.kind() == JsonKind::kObject) {
    Members members(doc, record.value.token, fault);
    while (members.Next()) {
      const uint32_t token = members.value();
      JsonRef* const into = members.name() == "kind"  ? &kind
                            : members.name() == "row" ? &row
                                                      : nullptr;
      if (into != nullptr && *into) {
        return stop.Fail(
            ErrorKind::kBadJson,
            Message("`{}` is twice in one changelog entry; fix the source", members.name()));
      }
      if (into != nullptr) *into = JsonRef{&doc, token};
      uint32_t behind = token;
      if (into == &row) {
        behind = SkipUnchecked(doc, token);
      } else if (!SkipChecked(doc, behind, fault, 1)) {
        break;
      }
      members.Done(behind);
    }
  } else {
    uint32_t token = record.value.token;
    SkipChecked(doc, token, fault);
  }
  if (fault.why != nullptr) return stop.Fail(ErrorKind::kBadJson, fault.why);
  std::string_view name;
  if (kind.kind() == JsonKind::kString && !ReadString(doc, kind.token, x_scratch, name, fault)) {
    return stop.Fail(ErrorKind::kBadJson, fault.why);
  }
  if (row.kind() == JsonKind::kObject && !name.empty()) return ReadRow(record, name, row);
  if (row) {
    uint32_t token = row.token;
    if (!SkipChecked(doc, token, fault, 1)) return stop.Fail(ErrorKind::kBadJson, fault.why);
  }
  return stop.Fail(ErrorKind::kBadEnvelope,
                   name.empty() ? "the line has no `kind`; check `format`"
                                : "the line has no `row` that is an object; check `format`");
}

bool ChangelogReader::ReadRow(const Record& record, std::string_view kind, JsonRef row) {
  Stop& stop = x_builder.stop();
  x_image = row;
  const bool is_upsert = kind == "+I" || kind == "+U";
  const bool is_before = kind == "-U";
  if (!is_upsert && !is_before && kind != "-D") {
    uint32_t token = row.token;
    JsonFault fault;
    if (!SkipChecked(*row.doc, token, fault, 1)) return stop.Fail(ErrorKind::kBadJson, fault.why);
    return stop.Fail(ErrorKind::kUnsupportedOp,
                     Message("kind `{}` is none of +I, -U, +U, -D", kind));
  }
  const uint32_t table = x_router.ByTopic(record.topic);
  if (table == kNone) {
    return stop.Fail(
        ErrorKind::kUnroutedTable,
        record.topic.empty()
            ? std::string("a changelog names no table, and several are declared; "
                          "apply it to one table")
            : Message("no table takes topic `{}`; add it under `source` of a table", record.topic));
  }
  TablePlan& plan = x_builder.plan(table);
  ChangeMeta meta;
  meta.flags = kArrivalVersion | (is_before ? kUpdateBefore : 0);
  return is_upsert ? x_builder.Upsert(plan, record, row, JsonRef{}, meta, Version{})
                   : x_builder.Delete(plan, record, row, meta);
}

}  // namespace lastword::codec
