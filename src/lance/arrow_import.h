// Struct arrays of the Arrow C data interface into Rows.
#pragma once

#include "lance/arrow_c_data.h"
#include "model/rows.h"

namespace lastword::lance {

/// Appends the rows of `array`, a struct array of `schema`, to `rows`: child i of the array becomes
/// rows.columns[i]; further children are left out. Takes the wider forms that other writers may
/// have used (large text, bytes and lists). kStorageCorrupt where the array does not match the
/// columns.
Status ImportRows(const ArrowSchema& schema, const ArrowArray& array, Rows& rows);

/// The values of child `column` of a struct array, which is of the fixed-width type `type` and
/// holds no NULL; kStorageCorrupt otherwise.
Result<const void*> LentValues(const ArrowSchema& schema, const ArrowArray& array, size_t column,
                               const Type& type);

/// The values of child `column` of a struct array as uint64, without NULLs; null where it is not.
const uint64_t* Uint64Values(const ArrowSchema& schema, const ArrowArray& array, int64_t column);

}  // namespace lastword::lance
