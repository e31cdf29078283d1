// Reads a visible table alone, as any Lance reader would: no ledger, no key index, no lock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "lastword/status.h"

namespace lastword::capi {

/// Contract of lastword_describe.
Result<std::string> Describe(const std::string& uri, uint64_t version);

/// Takes encoded rows; returning false ends the scan.
using EncodedSink = std::function<bool(std::string_view encoded, uint64_t rows)>;

/// Contract of lastword_scan.
Status ScanEncoded(const std::string& uri, uint64_t version, std::string_view columns,
                   const EncodedSink& sink);

}  // namespace lastword::capi
