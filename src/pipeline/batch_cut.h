// Parts of a decoded batch, for when a table may not take all of it at once: changes it has
// already, and runs between changes of other tables.
#pragma once

#include <cstddef>

#include "model/change_batch.h"

namespace lastword {

/// The changes [begin, end) of `batch` with the rows they need, as a batch of its own.
ChangeBatch CutOut(const ChangeBatch& batch, size_t begin, size_t end);

}  // namespace lastword
