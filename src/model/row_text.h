// Rows as text: for people in a table, as JSON and as CSV. Exact: integers of 64 bits and decimals
// keep every digit, floats print the shortest text that reads back as the same float. For answers
// only; nothing that is persisted is made here.
//
// How values look: dates and times as ISO 8601, timestamptz in UTC with 'Z'; decimals with their
// scale; uuids with dashes; bytes as base64; floats that are no number as NaN, Infinity, -Infinity.
#pragma once

#include <string>

#include "lastword/schema.h"
#include "lastword/value.h"

namespace lastword {

/// One line, whatever the value: control characters print as \n, \t, \xNN; NULL as "NULL"; lists as
/// JSON.
std::string ValueToText(const Value& value, const Type& type);

/// JSON text: integers, floats and booleans as such, everything else as a string, lists as arrays.
std::string ValueToJson(const Value& value, const Type& type);

/// One CSV field (RFC 4180). NULL is empty, an empty text is "".
std::string ValueToCsv(const Value& value, const Type& type);

/// {"id":7,"name":null}: the schema's columns in order; what the row does not name is NULL.
std::string RowToJson(const Schema& schema, const Row& row);

/// The fields of the schema's columns, without a line end; and their names.
std::string RowToCsv(const Schema& schema, const Row& row);
std::string CsvHeader(const Schema& schema);

}  // namespace lastword
