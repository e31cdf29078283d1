// The `source` of a configuration: flat keys, different ones for each kind, and Debezium's names
// for what Debezium's users have written already.
#pragma once

#include "pipeline/config.h"
#include "pipeline/config_node.h"

namespace lastword {

/// Reads `source:`. kUsage as all of the configuration; settings that may hold a secret are never
/// part of a message.
Result<SourceConfig> ReadSource(const ConfigNode& node);

}  // namespace lastword
