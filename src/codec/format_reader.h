// What a format adds behind the carrier of its records: one record in, its changes appended.
#pragma once

#include "codec/change_builder.h"
#include "codec/record.h"

namespace lastword::codec {

class FormatReader {
 public:
  virtual ~FormatReader() = default;
  /// Starts a call of the decoder: what was in front of its first records is not known.
  virtual void Start() {}
  /// Appends the changes of one record. False: the builder's stop() says why, and the caller rolls
  /// back.
  virtual bool Read(const Record& record) = 0;
  /// The row image of the record at hand, for messages; empty where there is none.
  virtual JsonRef image() const { return {}; }
};

}  // namespace lastword::codec
