// The source block of a Debezium event: where the event comes from and where it stands in the log.
// Reads what versions and routing need, checks the rest. Gives it no meaning: version.h and the
// router do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "codec/debezium/version.h"
#include "codec/image_read.h"
#include "codec/name_memo.h"
#include "codec/record.h"

namespace lastword::codec {

/// Views of the record, or of its reader where a text has escapes.
struct SourceBlock {
  JsonRef block;
  SourcePosition position;
  std::string_view db, schema, table;
};

/// What is read of a source block: texts, the sequence, whole numbers.
enum class SourceField : uint32_t {
  kDb,
  kSchema,
  kTable,
  kConnector,
  kSnapshot,
  kFile,
  kCommitLsn,
  kChangeLsn,
  kSequence,
  kLsn,
  kPos,
  kRow,
  kEventSerialNo,
  kNoField
};
SourceField SourceFieldOf(std::string_view name);

class SourceReader {
 public:
  /// Reads the object `block`, and says which token is behind it. False: `stop` says why.
  bool Read(JsonRef block, SourceBlock& out, uint32_t& behind_block, Stop& stop);

  /// Takes the value of `field` at `token`, which ends in front of token `behind` and is sound but
  /// for the escapes of a text, into `out`. Valid until the field is taken again. A value of
  /// another kind than the field's is not said.
  bool Take(SourceField field, const JsonDoc& doc, uint32_t token, uint32_t behind,
            SourceBlock& out, JsonFault& fault);

 private:
  NameMemo x_names;
  std::string x_scratch[static_cast<size_t>(SourceField::kSequence)];  // unescaped texts
};

}  // namespace lastword::codec
