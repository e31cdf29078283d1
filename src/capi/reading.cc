#include "capi/reading.h"

#include "base/format.h"
#include "capi/options.h"
#include "capi/row_codec.h"
#include "lance/dataset.h"
#include "model/version_columns.h"

namespace lastword::capi {
namespace {

// Large enough that a hand-over costs nothing, small enough for a reader to hold a few.
constexpr size_t kPieceBytes = 1 << 20;

Result<std::unique_ptr<Dataset>> OpenAt(const std::string& uri, uint64_t version) {
  LW_ASSIGN_OR_RETURN(std::unique_ptr<Dataset> dataset, lance::OpenDataset(uri, DatasetOptions{}));
  if (dataset && version != 0) LW_RETURN_IF_ERROR(dataset->Checkout(version));
  return dataset;
}

Result<std::vector<std::string>> ParseColumns(std::string_view text) {
  LW_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  std::vector<std::string> columns;
  if (!json.is_array() || json.empty()) {
    return Error{ErrorKind::kUsage, "the columns of a scan are a JSON array of names", {}};
  }
  for (const Json& each : json) {
    const std::string* name = each.get_ptr<const std::string*>();
    if (name == nullptr) {
      return Error{ErrorKind::kUsage, "the columns of a scan are a JSON array of names", {}};
    }
    columns.push_back(*name);
  }
  return columns;
}

}  // namespace

Result<std::string> Describe(const std::string& uri, uint64_t version) {
  LW_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset, OpenAt(uri, version));
  Json json = Json::object();
  json["exists"] = dataset != nullptr;
  if (!dataset) return DumpJson(json);
  LW_ASSIGN_OR_RETURN(const Schema schema, UserSchema(dataset->schema()));
  json["lance_version"] = dataset->version();
  json["rows"] = dataset->count_rows();
  json.update(SchemaToJson(schema));
  return DumpJson(json);
}

Status ScanEncoded(const std::string& uri, uint64_t version, std::string_view columns,
                   const EncodedSink& sink) {
  LW_ASSIGN_OR_RETURN(const std::vector<std::string> names, ParseColumns(columns));
  LW_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset, OpenAt(uri, version));
  if (!dataset) return Error{ErrorKind::kUsage, Message("there is no table at {}", uri), {}};
  for (const std::string& name : names) {
    if (dataset->schema().Find(name)) continue;
    Error error{ErrorKind::kUsage, Message("the table has no column `{}`", name), {}};
    error.place.column = name;
    return error;
  }
  std::string piece;
  uint64_t rows_in_piece = 0;
  bool ended = false;
  const auto hand_over = [&] {
    if (rows_in_piece != 0 && !ended) ended = !sink(piece, rows_in_piece);
    piece.clear();
    rows_in_piece = 0;
  };
  const Status scanned =
      dataset->Scan(names, [&](const Rows& rows, std::span<const RowAddress>) -> Status {
        for (uint64_t row = 0; row < rows.size() && !ended; ++row) {
          AppendEncodedRow(rows, row, piece);
          ++rows_in_piece;
          if (piece.size() >= kPieceBytes) hand_over();
        }
        if (!ended) return Ok{};
        return Error{ErrorKind::kInternal, "the scan was ended", {}};
      });
  if (!ended && scanned.ok()) hand_over();
  return ended ? Status(Ok{}) : scanned;
}

}  // namespace lastword::capi
