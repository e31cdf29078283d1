// The public Table: rows of named values at the border, one engine behind it.
#include "lastword/table.h"

#include "commit/lance_storage.h"
#include "model/digest.h"
#include "model/key.h"
#include "model/value_rows.h"

namespace lastword {
namespace {

// The one input of changes that come through the API: they have no place of their own.
constexpr const char* kApiInput = "api";

}  // namespace

struct Table::Parts {
  std::unique_ptr<Storage> storage;
  std::unique_ptr<TableImpl> impl;
  uint64_t next_offset = 0;
};

Counts& Counts::operator+=(const Counts& other) {
  applied += other.applied;
  stale += other.stale;
  below_floor += other.below_floor;
  repeat += other.repeat;
  conflict += other.conflict;
  quarantined += other.quarantined;
  held += other.held;
  return *this;
}

Table::Table(std::unique_ptr<Parts> parts) : x_parts(std::move(parts)) {}
Table::~Table() = default;
Table::Table(Table&&) noexcept = default;
Table& Table::operator=(Table&&) noexcept = default;

Result<Table> Table::Open(const std::string& uri, const TableOptions& options) {
  auto parts = std::make_unique<Parts>();
  parts->storage = MakeLanceStorage(options);
  LW_ASSIGN_OR_RETURN(parts->impl, TableImpl::Open(uri, options, *parts->storage));
  return Table(std::move(parts));
}

namespace {

Status AppendChange(const Schema& schema, const Change& change, uint64_t offset, Digester& digester,
                    ChangeBatch& batch) {
  ChangeHead head;
  head.kind = change.kind;
  head.version = change.version;
  head.offset = offset;
  if (change.kind != Kind::kTruncate) {
    std::vector<uint32_t> absent;
    LW_RETURN_IF_ERROR(AppendRow(schema, change.row, batch.rows, &absent));
    const uint32_t row = static_cast<uint32_t>(batch.rows.size() - 1);
    head.key_begin = static_cast<uint32_t>(batch.key_bytes.size());
    const Status key = AppendKey(schema, batch.rows, row, batch.key_bytes);
    if (!key.ok()) {
      batch.rows.Truncate(row);
      return key;
    }
    head.key_size = static_cast<uint32_t>(batch.key_bytes.size()) - head.key_begin;
    head.key = Hash128(batch.KeyOf(head));
    if (change.kind == Kind::kUpsert) {
      head.row = row;
      head.digest = digester.Digest(batch.rows, row, absent, {});
    } else {
      head.digest = kDeleteDigest;
    }
  }
  batch.heads.push_back(head);
  return Ok{};
}

}  // namespace

Result<std::vector<Outcome>> Table::Apply(std::span<const Change> changes) {
  TableImpl& impl = *x_parts->impl;
  ChangeBatch batch;
  batch.rows = Rows(impl.schema());
  batch.inputs = {kApiInput};
  Digester digester(impl.schema());
  std::optional<Error> failed;
  for (const Change& change : changes) {
    Status appended = AppendChange(impl.schema(), change, x_parts->next_offset++, digester, batch);
    if (!appended.ok()) {
      failed = std::move(appended.error());
      break;
    }
  }
  std::vector<Outcome> outcomes;
  LW_RETURN_IF_ERROR(impl.ApplyBatch(batch, outcomes));
  if (failed) return *failed;
  return outcomes;
}

Result<CommitResult> Table::Commit(const std::string& checkpoint_id) {
  return x_parts->impl->Commit({checkpoint_id, {}});
}

Result<Explanation> Table::Explain(const std::string& key, const std::optional<Version>& version) {
  return x_parts->impl->Explain(key, version);
}

Status Table::Scan(const std::function<bool(const Row&)>& sink, std::optional<uint64_t> as_of) {
  return x_parts->impl->Scan(
      [&](const Rows& rows, const Schema& schema) {
        for (uint64_t i = 0; i < rows.size(); ++i) {
          if (!sink(ReadRow(schema, rows, i))) return false;
        }
        return true;
      },
      as_of);
}

Result<TableStatus> Table::GetStatus() {
  return x_parts->impl->GetStatus();
}
const Schema& Table::schema() const {
  return x_parts->impl->schema();
}
uint64_t Table::count_rows() const {
  return x_parts->impl->count_rows();
}
const Counts& Table::counts() const {
  return x_parts->impl->counts();
}
TableImpl& Table::impl() {
  return *x_parts->impl;
}

}  // namespace lastword
