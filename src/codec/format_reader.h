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
  /// Reads the record whose value `text` begins with, up to a newline or the end, if it looks like
  /// one that was learned: what Read would append is appended then. Returns its size without the
  /// newline; 0: nothing was appended, and the record is to be read as any other, errors included.
  virtual size_t ReadLike(std::string_view /*text*/, const Record& /*record*/) { return 0; }
  /// Takes what Read has just appended as a pattern for ReadLike. `line` is the text of the value.
  virtual void Learn(std::string_view /*line*/, const Record& /*record*/) {}
  /// The row image of the record at hand, for messages; empty where there is none.
  virtual JsonRef image() const { return {}; }
};

}  // namespace lastword::codec
