#include "codec/record.h"

namespace lastword::codec {

JsonRef FindMember(JsonRef object, std::string_view name) {
  if (object.kind() != JsonKind::kObject) return {};
  JsonFault fault;
  Members members(*object.doc, object.token, fault);
  while (members.Next()) {
    if (members.name() == name) return JsonRef{object.doc, members.value()};
    members.Done(SkipUnchecked(*object.doc, members.value()));
  }
  return {};
}

Unwrapped UnwrapSchema(JsonRef value, JsonFault& fault) {
  Unwrapped out{{}, value};
  if (value.kind() != JsonKind::kObject) return out;
  JsonRef schema, payload;
  Members members(*value.doc, value.token, fault);
  while (members.Next()) {
    if (members.name() == "schema") {
      schema = JsonRef{value.doc, members.value()};
    } else if (members.name() == "payload") {
      payload = JsonRef{value.doc, members.value()};
    } else {
      return out;
    }
    members.Done(SkipUnchecked(*value.doc, members.value()));
  }
  if (fault.why != nullptr) return out;
  // Columns may be called schema and payload; a wrapper's schema is an object or null.
  if (schema && payload &&
      (schema.kind() == JsonKind::kObject || schema.kind() == JsonKind::kNull)) {
    out.payload = payload;
    if (schema.kind() == JsonKind::kObject) {
      out.schema = schema;
    } else if (std::string_view raw; !ReadPlain(*schema.doc, schema.token, raw, fault)) {
      return out;
    }
  }
  return out;
}

namespace {

bool TakeHeader(const JsonDoc& doc, uint32_t token, HeaderValue& out) {
  JsonFault fault;
  if (KindOf(doc, token) != JsonKind::kString) {
    out.json = JsonRef{&doc, token};
    out.text = RawText(doc, token, SkipUnchecked(doc, token));
    return true;
  }
  return ReadString(doc, token, out.scratch, out.text, fault);
}

bool SameText(const JsonDoc& doc, uint32_t token, std::string_view text) {
  std::string scratch;
  std::string_view found;
  JsonFault fault;
  return KindOf(doc, token) == JsonKind::kString && ReadString(doc, token, scratch, found, fault) &&
         found == text;
}

}  // namespace

bool FindHeader(const Record& record, std::string_view name, HeaderValue& out) {
  for (const auto& [header, value] : record.raw_headers) {
    if (header == name) {
      out.text = value;
      return true;
    }
  }
  if (const JsonRef found = FindMember(record.headers, name)) {
    return TakeHeader(*found.doc, found.token, out);
  }
  if (record.headers.kind() != JsonKind::kList) return false;
  const JsonDoc& doc = *record.headers.doc;
  JsonFault fault;
  Elements elements(doc, record.headers.token, fault);
  while (elements.Next()) {
    uint32_t at = elements.value();
    if (KindOf(doc, at) == JsonKind::kList) {
      // ["name", value]
      if (SameText(doc, at + 1, name) && doc.At(at + 2) == ',') return TakeHeader(doc, at + 3, out);
    } else if (KindOf(doc, at) == JsonKind::kObject) {
      // {"name": value}, or {"key": "name", "value": value}
      const JsonRef pair{&doc, at};
      if (const JsonRef found = FindMember(pair, name)) {
        return TakeHeader(doc, found.token, out);
      }
      const JsonRef key = FindMember(pair, "key"), value = FindMember(pair, "value");
      if (key && value && SameText(doc, key.token, name)) return TakeHeader(doc, value.token, out);
    } else {
      // A flat list of names and values.
      const bool found = SameText(doc, at, name);
      elements.Done(SkipUnchecked(doc, at));
      if (!elements.Next()) return false;
      at = elements.value();
      if (found) return TakeHeader(doc, at, out);
    }
    elements.Done(SkipUnchecked(doc, at));
  }
  return false;
}

}  // namespace lastword::codec
