// Schemas across the Arrow C data interface: our types as Arrow types, and back. Key columns carry
// Lance's unenforced-primary-key metadata; what Arrow cannot say of a column travels in metadata of
// our own:
//
//   lastword:type   "json": the column is utf8 that holds JSON (Arrow's own JSON type would make
//                   Lance convert the text)
//   lastword:key    position in the key, from 1: also where Lance's metadata is not allowed,
//   because
//                   NULL is a value in a key column
//
// Persisted in every table: these names never change.
#pragma once

#include <string>
#include <string_view>

#include "lance/arrow_c_data.h"
#include "lastword/schema.h"

namespace lastword::lance {

/// Fills `out` with a struct schema of the columns. `with_key` adds the key metadata. Fails with
/// kSchemaIncompatible on a column name that Lance does not take.
Status ExportSchema(const Schema& schema, bool with_key, ArrowSchema* out);

/// Reads the columns of a struct schema. A type that is none of ours is kSchemaIncompatible, with
/// the column in the place; `skip` names a column to leave out.
Result<Schema> ImportSchema(const ArrowSchema& schema, std::string_view skip = {});

}  // namespace lastword::lance
