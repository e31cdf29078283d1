#include "model/engine_fixture.h"

namespace lastword {

EngineFixture::EngineFixture(std::string uri, TableOptions options, Storage& storage)
    : x_uri(std::move(uri)), x_options(std::move(options)), x_storage(storage) {
  x_options.schema = TestSchema();
}

Status EngineFixture::Open() {
  x_table.reset();
  LW_ASSIGN_OR_RETURN(x_table, TableImpl::Open(x_uri, x_options, x_storage));
  return Ok{};
}

Result<std::vector<Outcome>> EngineFixture::Apply(const std::vector<TestChange>& changes) {
  ChangeBatch batch = EmptyBatch("0");
  for (const TestChange& change : changes) AppendChange(change, x_offset++, batch);
  std::vector<Outcome> outcomes;
  LW_RETURN_IF_ERROR(x_table->ApplyBatch(batch, outcomes));
  return outcomes;
}

Result<CommitResult> EngineFixture::Commit(const std::string& id) {
  CheckpointRequest request;
  request.id = id;
  return x_table->Commit(request);
}

Result<std::map<int64_t, EngineFixture::TableRow>> EngineFixture::Table() {
  std::map<int64_t, TableRow> table;
  bool doubled = false;
  LW_RETURN_IF_ERROR(x_table->Scan(
      [&](const Rows& rows, const Schema& schema) {
        const auto text = [&](const char* name, uint64_t row) -> std::optional<std::string> {
          const ColumnData& column = rows.columns[*schema.Find(name)];
          if (column.IsNull(row)) return std::nullopt;
          return std::string(column.Bytes(row));
        };
        for (uint64_t i = 0; i < rows.size(); ++i) {
          const auto id = rows.columns[*schema.Find("id")].Fixed<int64_t>(i);
          doubled |= !table.emplace(id, TableRow{text("a", i), text("b", i)}).second;
        }
        return true;
      },
      {}));
  if (doubled) return Error{ErrorKind::kStorageCorrupt, "a key is there twice", {}};
  return table;
}

}  // namespace lastword
