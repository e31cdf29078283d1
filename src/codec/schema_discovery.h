// Columns and keys out of what a stream shows: types of plain JSON values, schemas grown by new
// columns, keys named by record keys. The rules are in docs/types.md. Pure: asks, never applies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/image_read.h"
#include "codec/json_cursor.h"
#include "codec/table_plan.h"
#include "lastword/schema.h"

namespace lastword::codec {

/// The type of a plain JSON value; nothing for null (a column appears with its first typed value).
/// An integer is the first of int64, uint64, decimal(38,0), decimal(76,0) that holds it; a number
/// with a fraction or an exponent float64; a list that of its first element that is no null, json
/// where there is none; an object json.
std::optional<Type> InferType(const JsonDoc& doc, uint32_t token);

/// The smallest type that holds every value of `type` and the given integer; nothing where no
/// widening does.
std::optional<Type> WidenToInteger(const Type& type, bool negative, uint64_t magnitude);

/// The plan's schema with `columns` appended, its key set from `key_names` where all of them are
/// there. Fails with kReservedColumn.
Result<Schema> GrowSchema(const TablePlan& plan, std::span<const NewColumn> columns,
                          std::span<const std::string> key_names);

/// Matches the plan's columns with its `wrapper_fields` and sets its `wrapper_forms`. Gives a
/// schema where columns are to be added (discovery, evolution) or widened first. Fails with
/// kSchemaIncompatible where the source declares a type that a column cannot take.
Result<std::optional<Schema>> BindFields(TablePlan& plan);

}  // namespace lastword::codec
