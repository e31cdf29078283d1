// One record on its way through a decoder, whatever carried it: a line of a file, a line of a dump,
// a Kafka record. Views only; valid while the line is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "codec/json_cursor.h"

namespace lastword::codec {

/// A JSON value somewhere in a document; empty where there is none.
struct JsonRef {
  const JsonDoc* doc = nullptr;
  uint32_t token = 0;

  explicit operator bool() const { return doc != nullptr; }
  JsonKind kind() const { return doc == nullptr ? JsonKind::kNull : KindOf(*doc, token); }
};

struct Record {
  JsonRef value;              // unchecked; empty = a null-value record
  JsonRef key;                // checked; empty = none, or `key_text`
  std::string_view key_text;  // a key that is no JSON
  JsonRef headers;  // checked: an object, a list of pairs, or a flat list; or `raw_headers`
  std::span<const std::pair<std::string_view, std::string_view>> raw_headers;
  std::string_view topic;
  int32_t partition = 0;
  uint64_t offset = 0;  // in its input
  uint64_t line = 0;
  uint32_t input = 0;
};

/// A value with its schema wrapper taken off, if it has one.
struct Unwrapped {
  JsonRef schema, payload;
};
/// Takes {"schema": …, "payload": …} apart; anything else is the payload itself. Checks the
/// wrapper, not what is in it: a fault means that the wrapper is no JSON.
Unwrapped UnwrapSchema(JsonRef value, JsonFault& fault);

/// The value of header `name`: JSON where it is an object or a text of JSON inside the dump, text
/// otherwise. False where the record has no such header.
struct HeaderValue {
  JsonRef json;
  std::string_view text;
  std::string scratch;  // holds `text` where it had escapes
};
bool FindHeader(const Record& record, std::string_view name, HeaderValue& out);

/// The member `name` of the object; empty where it is absent. Reads unchecked.
JsonRef FindMember(JsonRef object, std::string_view name);

}  // namespace lastword::codec
