// One table that a run writes to: how its configuration and what is stored come together in the
// schema that records are decoded with. Applies nothing itself.
#pragma once

#include <memory>
#include <string>

#include "codec/decoder.h"
#include "commit/table_impl.h"
#include "pipeline/config.h"

namespace lastword {

/// What a table of `config` is to be when rows of `stored` are there already (no columns = there
/// are none): stored columns in their order with the configuration's defaults and sources, then
/// declared columns that are new. kSchemaIncompatible where the two contradict each other, with the
/// column and the remedy.
Result<Schema> ReconcileSchema(const TableConfig& config, const Schema& stored);

class Destination {
 public:
  /// Opens the table of `config` at `uri`; it may not exist yet. `storage` outlives the
  /// destination. The table's own options in `options` are set from `config`.
  static Result<Destination> Open(TableConfig config, const std::string& uri, TableOptions options,
                                  Storage& storage);

  const TableConfig& config() const { return x_config; }
  TableImpl& table() const { return *x_table; }
  /// How its records are to be read now.
  const codec::TableSpec& spec() const { return x_spec; }
  /// Takes the schema that a decoder asked for.
  Status Grant(const Schema& schema);

 private:
  TableConfig x_config;
  codec::TableSpec x_spec;
  std::unique_ptr<TableImpl> x_table;
};

/// TableOptions as the configuration of a pipeline has them for all its tables.
TableOptions TableOptionsOf(const PipelineConfig& config);

/// "lake/orders.lance" for the table `name` in the sink `uri`.
std::string TableUri(const std::string& sink_uri, const std::string& name);

}  // namespace lastword
