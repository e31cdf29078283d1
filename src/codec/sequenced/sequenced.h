// Decodes records that carry their own sequence number.
//
//   line := { "seq": n, "key": k, "op": "upsert" | "delete", "value"?: v }
//
// The table has the columns `key` and `value`; an object as value gives a column a field instead
// (unless `value` is declared as json). `seq` is a signed 64-bit number and the whole version.
#pragma once

#include <string>

#include "codec/format_reader.h"
#include "codec/router.h"

namespace lastword::codec {

class SequencedReader final : public FormatReader {
 public:
  SequencedReader(ChangeBuilder& builder, Router& router) : x_builder(builder), x_router(router) {}

  bool Read(const Record& record) override;
  JsonRef image() const override { return x_image; }

 private:
  struct Line {
    JsonRef seq, key, op, value;
  };

  bool ReadLine(const Record& record, Line& line);
  bool ReadSeq(const Line& line, Version& version);
  bool MakeImage(const TablePlan& plan, const Line& line, bool with_value);

  ChangeBuilder& x_builder;
  Router& x_router;
  JsonRef x_image;
  std::string x_text;  // of the image
  JsonIndex x_index;
  std::string x_scratch;
};

}  // namespace lastword::codec
