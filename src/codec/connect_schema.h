// The schema wrapper of Kafka Connect's JSON ({"schema": …, "payload": …}): what type each column
// has at the source, and in which form its values come. Reads schemas only, never values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codec/json_cursor.h"
#include "codec/value_decode.h"
#include "lastword/schema.h"

namespace lastword::codec {

/// One column as the source declares it.
struct ConnectField {
  std::string name;
  Type type;             // what a discovered column becomes (docs/types.md)
  ValueForm form;        // how its values look; of a list, how its elements do
  bool is_text = false;  // values come as text, whatever `type` says
  bool exact = true;  // false: digits or size are not part of the schema, so only values can tell
};

/// The columns of a struct schema at `token`, read strictly; the token moves behind it. False with
/// a fault for what is no JSON. A schema that is no struct gives no fields.
bool ReadStructSchema(const JsonDoc& doc, uint32_t& token, std::vector<ConnectField>& fields,
                      JsonFault& fault);

/// The columns of the row images in a Debezium envelope's schema at `token` (its field `after`, or
/// `before` where there is none). As above.
bool ReadEnvelopeSchema(const JsonDoc& doc, uint32_t& token, std::vector<ConnectField>& fields,
                        JsonFault& fault);

/// Whether a column of type `column` can take the values of `field`.
enum class Fit : uint8_t {
  kFits,   // every value, or each value is checked
  kWiden,  // after widening the column to `field.type`
  kNever,
};
Fit FitOf(const ConnectField& field, const Type& column);

}  // namespace lastword::codec
