// What `log` says: the versions of a table, newest first, with what each commit was. Reads only.
#pragma once

#include <cstdint>
#include <string>

#include "commit/table_impl.h"

namespace lastword::cli {

/// The newest `limit` versions, a line each.
Result<std::string> LogText(TableImpl& table, uint64_t limit);

/// The same as the object of `--json`, under the name `uri`.
Result<std::string> LogJson(TableImpl& table, const std::string& uri, uint64_t limit);

}  // namespace lastword::cli
