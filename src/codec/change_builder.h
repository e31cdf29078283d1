// Changes out of images: rows, keys, versions of declared columns, digests, and the two halves of a
// key change. What every format shares behind its own envelope. All or nothing a record: a record
// that fails leaves nothing behind in the batch. Knows no envelope and no topic rules.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codec/decoder.h"
#include "codec/image_read.h"
#include "codec/record.h"
#include "codec/table_plan.h"

namespace lastword::codec {

/// What the envelope says of a change beside its images.
struct ChangeMeta {
  Version version;          // unless the table declares sequence columns
  bool has_version = true;  // false: the format has none, so sequence columns must be declared
  uint16_t flags = 0;
  bool with_schemas = false;                          // the source puts its tables into schemas
  JsonRef source;                                     // for columns with `from: source.…`
  const std::vector<ConnectField>* fields = nullptr;  // of the schema wrapper, if there is one
};

class ChangeBuilder {
 public:
  explicit ChangeBuilder(const std::vector<TableSpec>& tables);

  /// Starts a call: empties the batches of `out`, keeping their memory.
  void Start(Decoded& out);
  /// Ends a call: the next one makes room for as much as this one filled.
  void Finish();
  /// Starts a record: what follows is one unit for RollBack.
  void StartRecord();
  /// Takes back what the record appended.
  void RollBack();

  TablePlan& plan(uint32_t table) { return *x_plans[table]; }
  size_t table_count() const { return x_plans.size(); }
  Stop& stop() { return x_stop; }
  /// The table that the record at hand was given to; kNone before.
  uint32_t table() const { return x_table; }

  /// Gives the record at hand to a table: what stops it from here on is that table's. The calls
  /// below do it where the caller has not.
  void Enter(TablePlan& plan);

  /// Makes sure that the names of the table's key columns are known: declared, or those of the
  /// record key. False: kMissingKey.
  bool NameKey(TablePlan& plan, const Record& record);

  // Each appends the changes of one record. False: stop() says why; the caller rolls back.

  /// An upsert of the complete image `after`. A `before` whose key differs makes it a key change;
  /// its values stand in for unchanged columns. `delete_version` is that of the delete half.
  bool Upsert(TablePlan& plan, const Record& record, const Image& after, const Image& before,
              const ChangeMeta& meta, const Version& delete_version);
  /// A delete of the key in `before`, completed and checked by the record key.
  bool Delete(TablePlan& plan, const Record& record, const Image& before, const ChangeMeta& meta);
  /// A truncate of the source table's rows, as far as they can be told from those of others.
  bool Truncate(TablePlan& plan, const Record& record, const ChangeMeta& meta);

  /// The key of the record for a message, as well as it can be told; empty where it cannot.
  std::string KeyForMessage(TablePlan& plan, const Record& record, JsonRef image);

  /// Drops what schema wrappers announced and makes new plans.
  void SetTables(const std::vector<TableSpec>& tables);

 private:
  struct Mark {
    size_t heads = 0, details = 0, key_bytes = 0, order = 0;
    uint64_t rows = 0;
  };

  ChangeBatch& batch(const TablePlan& plan) { return x_out->tables[plan.index]; }
  bool NeedKey(TablePlan& plan, JsonRef image);
  bool ReadRow(TablePlan& plan, const Record& record, const Image& after, const ChangeMeta& meta,
               uint64_t row);
  bool UnavailableKey(const std::string& column);
  bool SetOrigin(TablePlan& plan, const Record& record, const ChangeMeta& meta, ChangeHead& head);
  uint16_t SharedOrigin(const TablePlan& plan, const ChangeMeta& meta) const;
  bool FillMetadata(TablePlan& plan, const Record& record, JsonRef source, bool key_only,
                    Rows& rows);
  bool FillOne(const MetadataColumn& meta, const Column& column, const Record& record,
               JsonRef source, ColumnData& data);
  bool CollectKey(TablePlan& plan, const Record& record, const Image& before,
                  const ChangeMeta& meta);
  bool ReadKeyForms(const TablePlan& plan, JsonRef schema);
  bool ReadRecordKey(TablePlan& plan, const Record& record);
  bool MergeKeyColumn(TablePlan& plan, uint32_t column, ImageReader::Part in_image);
  bool GrowForDelete(TablePlan& plan, const Record& record, JsonRef before);
  bool AppendCanonicalKey(TablePlan& plan, const Rows& rows, uint64_t row, std::string& out);
  bool DeclaredVersion(TablePlan& plan, const Rows& rows, uint64_t row, const Record& record,
                       Version& version);
  bool OtherKey(TablePlan& plan, const Record& record, std::string_view header, std::string& out);
  bool BeforeKey(TablePlan& plan, const Record& record, const Image& before, const ChangeMeta& meta,
                 bool& found);
  bool BeforeValues(TablePlan& plan, const Image& before, const ChangeMeta& meta, uint32_t& row);
  ChangeHead& AddHead(TablePlan& plan, const Record& record, Kind kind);
  ChangeDetail& DetailOf(TablePlan& plan, ChangeHead& head);
  const std::vector<ValueForm>& FormsOf(const TablePlan& plan, const ChangeMeta& meta) const {
    return meta.fields != nullptr ? plan.wrapper_forms : plan.plain_forms;
  }

  std::vector<std::unique_ptr<TablePlan>> x_plans;
  Decoded* x_out = nullptr;
  uint32_t x_table = kNone;
  Mark x_mark;
  Stop x_stop;
  ImageReader x_reader;
  ValueDecoder x_values;
  std::string x_key, x_other_key;  // canonical
  std::vector<ImageReader::Part> x_image_parts, x_key_parts;
  const std::vector<ConnectField>* x_fields = nullptr;  // of the record at hand
  std::vector<ValueForm> x_key_forms;
  JsonIndex x_header_index;
};

}  // namespace lastword::codec
