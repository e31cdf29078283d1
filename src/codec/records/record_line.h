// Reads one line of a dump of Kafka records.
//
//   line    := { "partition": n, "offset": n, "topic"?: text, "key"?: k, "value": v, "headers"?: h
//   }
//            | the same with "payload" instead of "value", as `kcat -J` prints it
//   k, v    := JSON | a text that holds JSON (v) or a key (k) | null
//   headers := { name: value } | [[name, value]] | [name, value, …]
//
// Other members (timestamp, tstype, ts, broker) mean nothing here. A missing value is an error, a
// null one a null-value record.
#pragma once

#include <string>

#include "codec/image_read.h"
#include "codec/record.h"

namespace lastword::codec {

class RecordLineReader {
 public:
  /// Reads the line's value at `line` into `out` but for input and line number. What `out` refers
  /// to lives until the next call. `has_topic` tells an absent topic from an empty one.
  bool Read(const JsonDoc& line, Record& out, bool& has_topic, Stop& stop);

 private:
  bool TakeMember(const JsonDoc& line, std::string_view name, uint32_t token, Record& out,
                  Stop& stop);
  bool TakeNumber(const JsonDoc& line, std::string_view name, uint32_t token, uint64_t max,
                  uint64_t& out, Stop& stop);
  bool TakeKey(const JsonDoc& line, uint32_t token, Record& out, Stop& stop);
  bool TakeValue(const JsonDoc& line, uint32_t token, Record& out, Stop& stop);

  bool x_has_topic = false, x_has_partition = false, x_has_offset = false, x_has_key = false,
       x_has_value = false;
  std::string x_topic, x_key, x_value;  // unescaped texts
  JsonIndex x_key_index, x_value_index;
};

}  // namespace lastword::codec
