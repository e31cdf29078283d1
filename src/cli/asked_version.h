// A VERSION that a command was asked about, beside the table it is asked of.
#pragma once

#include <string>

#include "cli/command.h"
#include "lastword/version.h"

namespace lastword::cli {

/// The source's own forms of a version (`lsn:`, `offset:`, `seq:`) name no epoch: they mean the one
/// that the table is in.
inline Version InPresentEpoch(const std::string& text, Version version, const OpenedTable& table) {
  if (text.find(':') != std::string::npos) version.epoch = table.status.epoch;
  return version;
}

}  // namespace lastword::cli
