// Whether a schema can be stored as a table: names that Lance and we keep for ourselves, and names
// that appear twice. Every schema passes here before a table is created or changed.
#pragma once

#include "lastword/schema.h"
#include "lastword/status.h"

namespace lastword {

/// kReservedColumn for a name that starts with "_lw_", is a system column of Lance, is empty, or
/// holds a dot (Lance refuses it at the top level); kUsage for a name that appears twice. The
/// column is in the error's place, the remedy in its message.
Status CheckColumnNames(const Schema& schema);

/// The check of one name.
Status CheckColumnName(std::string_view name);

}  // namespace lastword
