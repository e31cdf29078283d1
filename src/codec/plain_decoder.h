// For tests: a slow decoder of Debezium events and dumps of records that shares nothing with the
// fast one but the model: a general JSON library, one value at a time, no reuse, declared columns
// only. Two decoders that agree on streams nobody chose are a better witness than either alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codec/decoder.h"

namespace lastword::codec {

/// The changes of `text` as ChangeToText prints them, up to the first record in error; `error` is
/// its kind, empty where there is none. Tables have declared columns and keys, no defaults, no
/// metadata columns and no sequence columns.
struct PlainResult {
  std::vector<std::string> changes;
  uint64_t records = 0;
  std::string error;
};
PlainResult DecodePlainly(Format format, const std::vector<TableSpec>& tables,
                          std::string_view text);

}  // namespace lastword::codec
