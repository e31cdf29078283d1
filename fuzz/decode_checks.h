// What must hold of a decoder whatever the bytes are. Used by the fuzz targets and by the test that
// replays their corpora.
#pragma once

#include <string_view>

#include "codec/decoder.h"

namespace lastword::codec {

/// Decodes `bytes` as lines of `format`, into declared and into discovered tables, whole, in two
/// pieces and (Debezium's) each line alone, and as records of a source. Ends the process where
/// something does not hold that must: sizes that disagree, a record half taken, a placeholder
/// stored as a value, a result that depends on the cut or on other lines.
void CheckDecoding(Format format, std::string_view bytes);

}  // namespace lastword::codec
