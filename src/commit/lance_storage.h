// The storage of a table in Lance: what every program opens its tables with.
#pragma once

#include <memory>

#include "commit/table_impl.h"

namespace lastword {

/// The storage of Lance datasets, with the table's options.
std::unique_ptr<Storage> MakeLanceStorage(const TableOptions& options);

}  // namespace lastword
