// Decodes changelogs in Flink's terms.
//
//   line := { "kind": "+I" | "-U" | "+U" | "-D", "row": { … } }
//
// The row of +I and +U is complete; of -U and -D only the key columns are read (and the sequence
// columns, where the table declares some). A changelog has no versions of its own: its order of
// arrival is the version, which the table gives (kArrivalVersion).
#pragma once

#include "codec/format_reader.h"
#include "codec/router.h"

namespace lastword::codec {

class ChangelogReader final : public FormatReader {
 public:
  ChangelogReader(ChangeBuilder& builder, Router& router) : x_builder(builder), x_router(router) {}

  bool Read(const Record& record) override;
  JsonRef image() const override { return x_image; }

 private:
  bool ReadRow(const Record& record, std::string_view kind, JsonRef row);

  ChangeBuilder& x_builder;
  Router& x_router;
  JsonRef x_image;
  std::string x_scratch;
};

}  // namespace lastword::codec
