// What every format offers: bytes of records in, changes of tables out. Pure: no I/O, no clock, no
// state between calls but the schemas it was given; every call may run on its own thread with its
// own Decoder.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lastword/schema.h"
#include "model/change_batch.h"

namespace lastword::codec {

/// How the records of one destination table are to be read. `schema` is the table's present schema;
/// with a discovered schema it starts empty and grows by SchemaRequests.
struct TableSpec {
  std::string name;                  // table in the sink
  std::vector<std::string> sources;  // "orders" = a table name, "public.orders" = schema.table,
                                     // else a topic; empty = every record
  Schema schema;
  bool discover = false;                 // columns come from the stream
  std::vector<std::string> primary_key;  // declared names; empty = the source's (the record's key)
  std::vector<std::string> nullable_key;
  std::vector<std::string>
      sequence_columns;  // columns (or "offset") that make the version; empty = the format's
  enum class DecimalEncoding {
    kBase64,
    kString,
    kNumber
  } decimal_encoding = DecimalEncoding::kBase64;
  enum class Evolution { kException, kEvolve, kIgnore } evolution = Evolution::kException;
  bool type_widening = false;
};

/// The schema of table `table` has to change before the record at which decoding stopped can be
/// read. The caller applies `schema` (evolution policy is already checked) and decodes that record
/// again.
struct SchemaRequest {
  uint32_t table = 0;
  Schema schema;  // whole new schema: columns only added at the end or widened
};

/// One record as a source hands it over. Views stay valid during the call.
struct RawRecord {
  std::string_view value;  // one NDJSON line, or a Kafka value
  bool value_is_null = false;
  std::string_view key;  // Kafka key; empty = none
  std::string_view topic;
  std::vector<std::pair<std::string_view, std::string_view>> headers;
  uint32_t input = 0;  // index into the names given to DecodeRecords
  int32_t partition = 0;
  uint64_t offset = 0;
  uint64_t line = 0;
};

/// Changes of all tables of a run, and where decoding stopped.
struct Decoded {
  std::vector<ChangeBatch> tables;  // one a TableSpec, same order
  /// Order of arrival across tables: table of each change, in order. Within a table heads are in
  /// order anyway.
  std::vector<uint32_t> order;
  uint64_t records = 0;  // records consumed, skipped ones included
  uint64_t alike = 0;    // of them, those that looked like one before and took the short way
  uint64_t bytes = 0;    // bytes consumed: the next record starts there
  std::optional<SchemaRequest> schema_request;  // decoding stopped in front of this record
  std::optional<Error> error;  // decoding stopped in front of this record; its place is filled
};

/// Memory that `decoded` occupies.
uint64_t BytesHeld(const Decoded& decoded);

/// Where a chunk of lines lies.
struct ChunkPlace {
  std::string input;         // name of the file ("orders.ndjson", "-")
  uint64_t byte_offset = 0;  // of the chunk's first byte in the input
  uint64_t line = 1;         // of the chunk's first line
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Decodes whole lines (the last may lack its newline only when `last`). Stops in front of a
  /// record that needs a schema change or is in error. Allocates `out.tables`; reuses their memory
  /// when called again with the same `out`. The inputs of a batch are those that this call met, in
  /// order of appearance.
  virtual void DecodeLines(std::string_view chunk, const ChunkPlace& place, bool last,
                           Decoded& out) = 0;
  /// Decodes records that a source hands over one by one, in order; `inputs` are the names that
  /// RawRecord::input counts. Stops as above; `out.records` says where, `out.bytes` is the sum of
  /// their keys and values.
  virtual void DecodeRecords(std::span<const RawRecord> records,
                             const std::vector<std::string>& inputs, Decoded& out) = 0;
  /// Takes new schemas after a SchemaRequest was granted.
  virtual void SetTables(const std::vector<TableSpec>& tables) = 0;
};

enum class Format { kDebezium, kRecords, kChangelog, kSequenced };
/// "debezium", "records", "changelog", "sequenced"; kUsage with the list otherwise.
Result<Format> ParseFormat(std::string_view name);
std::unique_ptr<Decoder> MakeDecoder(Format format, const std::vector<TableSpec>& tables);

/// Kept by callers behind every chunk. Decoding never reads behind the end; a later parser may.
inline constexpr size_t kPaddingBytes = 64;

}  // namespace lastword::codec
