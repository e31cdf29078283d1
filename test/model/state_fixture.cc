#include "model/state_fixture.h"

#include <algorithm>

#include "model/digest.h"
#include "model/key.h"

namespace lastword {
namespace {

std::optional<std::string> TextAt(const ColumnData& column, uint64_t row) {
  if (column.IsNull(row)) return std::nullopt;
  return std::string(column.Bytes(row));
}

}  // namespace

StateFixture::StateFixture(const StateOptions& options, bool several_sources)
    : x_options(options), x_schema(TestSchema(several_sources)) {
  Restart();
}

Result<std::vector<Outcome>> StateFixture::ApplyRecord(std::span<const TestChange> changes) {
  const TestChange& first = changes[0];
  ChangeBatch batch = EmptyBatch(first.input, !first.source.empty());
  const uint64_t offset = first.offset ? *first.offset : x_offsets[first.input];
  x_offsets[first.input] = std::max(x_offsets[first.input], offset + 1);
  for (const TestChange& change : changes) AppendChange(change, offset, batch);
  std::vector<Outcome> outcomes;
  LW_RETURN_IF_ERROR(x_state->Apply(batch, outcomes));
  return outcomes;
}

Result<Outcome> StateFixture::Apply(const TestChange& change) {
  LW_ASSIGN_OR_RETURN(const std::vector<Outcome> outcomes, ApplyRecord({&change, 1}));
  return outcomes[0];
}

KeyHash StateFixture::HashOf(int64_t key) {
  TestChange change;
  change.key = key;
  ChangeBatch batch = EmptyBatch("0");
  AppendChange(change, 0, batch);
  return batch.heads[0].key;
}

Status StateFixture::Commit() {
  LW_ASSIGN_OR_RETURN(const SealedBatch sealed, x_state->Seal());
  for (const uint64_t address : sealed.superseded) {
    if (x_rows.erase(address) != 1)
      return Error{ErrorKind::kInternal, "deleted a row that is not there", {}};
  }
  for (const uint64_t address : sealed.ledger_superseded) {
    if (x_ledger.erase(address) != 1)
      return Error{ErrorKind::kInternal, "deleted a ledger row that is not there", {}};
  }
  std::vector<uint64_t> rows, ledger;
  for (size_t i = 0; i < sealed.row_keys.size(); ++i) {
    StoredLive live{RowChunk(std::make_shared<const Schema>(x_schema)), sealed.row_keys[i]->now};
    for (size_t c = 0; c < x_schema.columns.size(); ++c) {
      live.row.rows.columns[c].AppendFrom(sealed.rows.columns[c], i);
    }
    rows.push_back(x_next_address++);
    live.entry.address = rows.back();
    x_rows.emplace(rows.back(), std::move(live));
  }
  for (const LedgerRow& row : sealed.ledger_rows) {
    ledger.push_back(x_next_address++);
    StoredLedger stored{row.entry, std::string(row.key), row.extra};
    stored.entry.address = ledger.back();
    x_ledger.emplace(ledger.back(), std::move(stored));
  }
  const uint64_t tombstones = x_head.tombstones + static_cast<uint64_t>(sealed.tombstones_added);
  x_state->Committed(sealed, rows, ledger);
  x_state->head().tombstones = tombstones;
  x_head = x_state->head();
  return Ok{};
}

void StateFixture::Restart() {
  x_index = std::make_unique<MemoryIndex>();
  x_state = std::make_unique<TableState>(*x_index, static_cast<StoredRows&>(*this), x_options);
  x_state->SetSchema(x_schema);
  std::unordered_map<KeyHash, StoredExtra, KeyHashHasher> extras;
  for (const auto& [address, stored] : x_ledger) {
    KeyEntry entry = stored.entry;
    entry.has_extra = !stored.extra.empty() || entry.status != KeyStatus::kTombstone;
    entry.digest = kDeleteDigest;
    if (entry.has_extra) {
      extras[entry.key] = {*ExtraFromBytes(stored.extra), address, stored.key};
    }
    x_index->Store(entry);
  }
  for (const auto& [address, stored] : x_rows) {
    KeyEntry entry = stored.entry;
    KeyEntry known;
    entry.has_extra = x_index->Find(entry.key, known);
    entry.delete_input = entry.has_extra ? known.delete_input : 0;
    x_index->Store(entry);
  }
  x_state->Restore(x_head, std::move(extras));
}

uint64_t StateFixture::Collect(const Version& boundary) {
  uint64_t kept = 0;
  const uint64_t removed = x_state->CollectTombstones(boundary, kept);
  (void)Commit();
  return removed;
}

Result<RowChunk> StateFixture::Take(std::span<const uint64_t> addresses) {
  RowChunk chunk(std::make_shared<const Schema>(x_schema));
  for (const uint64_t address : addresses) {
    const auto found = x_rows.find(address);
    if (found == x_rows.end())
      return Error{ErrorKind::kInternal, "took a row that is not there", {}};
    chunk.rows.AppendFrom(found->second.row.rows, 0);
  }
  return chunk;
}

Status StateFixture::ForEachKey(const KeyVisit& visit) {
  for (const auto& [address, stored] : x_rows) {
    std::string key;
    LW_RETURN_IF_ERROR(AppendKey(x_schema, stored.row.rows, 0, key));
    visit(stored.entry.key, key);
  }
  for (const auto& [address, stored] : x_ledger) visit(stored.entry.key, stored.key);
  return Ok{};
}

std::map<int64_t, StateFixture::TableRow> StateFixture::Table() const {
  std::map<int64_t, TableRow> table;
  for (const auto& [address, stored] : x_rows) {
    const std::vector<ColumnData>& columns = stored.row.rows.columns;
    table[columns[0].Fixed<int64_t>(0)] = {TextAt(columns[1], 0), TextAt(columns[2], 0)};
  }
  return table;
}

std::string StateFixture::Text() const {
  std::map<std::pair<std::string, int64_t>, std::string> lines;
  for (const auto& [address, stored] : x_rows) {
    const std::vector<ColumnData>& columns = stored.row.rows.columns;
    const int64_t id = columns[0].Fixed<int64_t>(0);
    const std::string source = columns.size() > 3 ? std::string(columns[3].Bytes(0)) + "." : "";
    lines[{source, id}] = source + std::to_string(id) + "=" + TextAt(columns[1], 0).value_or("-") +
                          "," + TextAt(columns[2], 0).value_or("-") + " ";
  }
  std::string text;
  for (const auto& [key, line] : lines) text += line;
  return text;
}

}  // namespace lastword
