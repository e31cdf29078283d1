// What `from:` of a column names: metadata of the record, or a field of the image under another
// name. The one place that tells them apart.
#pragma once

#include <string_view>

namespace lastword {

/// True for "source.…", "header.…", "topic", "partition" and "offset"; false for a field of the
/// image, and for no `from:` at all.
constexpr bool IsRecordMetadata(std::string_view from) {
  return from.starts_with("source.") || from.starts_with("header.") || from == "topic" ||
         from == "partition" || from == "offset";
}

}  // namespace lastword
