// Questions to a table: one key, all rows, its state, its history. Nothing here changes anything.
#include <algorithm>

#include "base/format.h"
#include "commit/engine.h"
#include "model/key.h"
#include "model/value_rows.h"
#include "model/version_columns.h"
#include "state/law.h"

namespace lastword {
namespace {

std::string WhyState(const Explanation& explanation, const WaitingChange* waiting) {
  if (waiting != nullptr) {
    return Message(
        "the newest change of the key, of version {}, is one half of a key change and waits for "
        "the other; until then {}",
        ToString(waiting->version),
        explanation.state == Explanation::State::kLive ? "the row before it stays"
                                                       : "the key has no row");
  }
  switch (explanation.state) {
    case Explanation::State::kLive:
      return "the row is the newest change of the key";
    case Explanation::State::kDeleted:
      return "the newest change of the key is a delete; its version is kept, so no older change "
             "brings the row back";
    case Explanation::State::kUnknown:
      return "no change of this key was ever applied";
    case Explanation::State::kBelowFloor:
      break;
  }
  return "no row and no tombstone is kept; changes at or below the floor are refused";
}

std::string Why(const Explanation& explanation, const WaitingChange* waiting,
                const std::optional<Version>& asked, const std::optional<Version>& floor) {
  const std::string why = WhyState(explanation, waiting);
  if (!asked || !explanation.would_be) return why;
  const std::string version = ToString(*asked);
  switch (*explanation.would_be) {
    case Outcome::kApplied:
      return Message("{}; a change of version {} is newer and would replace that", why, version);
    case Outcome::kStale:
      if (floor && *asked <= *floor && explanation.state != Explanation::State::kLive) {
        return Message(
            "{}; a change of version {} is at or below the floor {} and would be refused", why,
            version, ToString(*floor));
      }
      return Message("{}; a change of version {} is older than {} and would change nothing", why,
                     version,
                     ToString(waiting != nullptr ? waiting->version : *explanation.version));
    case Outcome::kRepeat:
    case Outcome::kConflict:
    case Outcome::kHeld:  // never asked: a thought change has no record that could be held
      return Message(
          "{}; version {} is that of the state: the same change again would be a repeat, any other "
          "a conflict",
          why, version);
  }
  return why;
}

}  // namespace

Result<Explanation> Engine::Explain(const std::string& key_text,
                                    const std::optional<Version>& version) {
  Explanation explanation;
  if (!x_table && x_state.schema().columns.empty()) {
    return Error{ErrorKind::kUsage, Message("there is no table at {}", x_uri), {}};
  }
  LW_ASSIGN_OR_RETURN(const std::string key, ParseKey(x_state.schema(), key_text));
  const TableState::KeyView view = x_state.View(Hash128(key), key);
  LW_RETURN_IF_ERROR(x_index.Health());
  const std::optional<Version> floor = x_state.head().floors.Of(x_state.schema(), key);
  std::optional<StoredChange> stored;
  if (view.entry.status != KeyStatus::kNone) {
    stored = StoredChange{view.entry.version(), view.entry.digest, view.entry.live()};
    explanation.version = stored->version;
    explanation.state = stored->live ? Explanation::State::kLive : Explanation::State::kDeleted;
  } else if (floor) {
    explanation.state = Explanation::State::kBelowFloor;
    explanation.version = *floor;
  }
  const WaitingChange* const waiting =
      view.extra != nullptr && view.extra->waiting ? &*view.extra->waiting : nullptr;
  if (waiting != nullptr) {
    stored = StoredChange{waiting->version, waiting->digest, true, !view.entry.live()};
  }
  explanation.quarantined = view.extra != nullptr && view.extra->quarantined;
  if (version) {
    // The asked change is a thought one: a digest that no stored row has, so that an equal version
    // says "repeat or conflict".
    explanation.would_be = Decide(*version, 0, true, stored, floor).outcome;
  }
  if (view.entry.live()) {
    if (view.row.pending()) {
      const RowChunk& chunk = x_state.chunk(view.row.chunk);
      explanation.row = ReadRow(*chunk.schema, chunk.rows, view.row.row);
    } else {
      LW_ASSIGN_OR_RETURN(const RowChunk taken, Take({&view.entry.address, 1}));
      explanation.row = ReadRow(*taken.schema, taken.rows, 0);
    }
  }
  if (!view.row.pending() && view.entry.status != KeyStatus::kNone) {
    LW_RETURN_IF_ERROR(ExplainOrigin(view.entry, explanation));
  }
  explanation.why = Why(explanation, waiting, version, floor);
  return explanation;
}

// The first kept version that has this fragment: ids only grow, so the versions are searched by
// halves.
Result<std::optional<uint64_t>> Engine::FirstVersion(Dataset& dataset, uint64_t fragment) {
  LW_ASSIGN_OR_RETURN(const std::vector<uint64_t> versions, dataset.Versions());
  const uint64_t here = dataset.version();
  const auto has = [&](uint64_t version) -> Result<bool> {
    LW_RETURN_IF_ERROR(dataset.Checkout(version));
    const std::vector<Fragment> fragments = dataset.fragments();
    return std::any_of(fragments.begin(), fragments.end(),
                       [&](const Fragment& f) { return f.id == fragment; });
  };
  size_t low = 0;
  size_t high = std::upper_bound(versions.begin(), versions.end(), here) - versions.begin();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    LW_ASSIGN_OR_RETURN(const bool found, has(versions[middle]));
    if (found) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  LW_RETURN_IF_ERROR(dataset.Checkout(here));
  // The oldest kept version tells nothing: the fragment may be older still.
  if (low >= versions.size() || (low == 0 && versions[0] != 1)) return std::optional<uint64_t>{};
  // A compaction is where a fragment began, not where its rows did.
  LW_ASSIGN_OR_RETURN(const VersionInfo info, dataset.Describe(versions[low]));
  if (info.operation == "Rewrite") return std::optional<uint64_t>{};
  return std::optional<uint64_t>(versions[low]);
}

Status Engine::ExplainOrigin(const KeyEntry& entry, Explanation& explanation) {
  std::optional<uint64_t> version;
  if (entry.live()) {
    LW_ASSIGN_OR_RETURN(version, FirstVersion(*x_table, entry.address >> 32));
  } else {
    LW_ASSIGN_OR_RETURN(const std::optional<uint64_t> ledger,
                        FirstVersion(*x_ledger, entry.address >> 32));
    if (!ledger) return Ok{};
    // The first visible version that pins that ledger version or a later one.
    LW_ASSIGN_OR_RETURN(const std::vector<uint64_t> versions, x_table->Versions());
    for (auto it = versions.rbegin(); it != versions.rend() && *it <= x_table->version(); ++it) {
      LW_ASSIGN_OR_RETURN(const VersionInfo info, x_table->Describe(*it));
      LW_ASSIGN_OR_RETURN(const std::optional<TableProperties> ours,
                          DecodeProperties(info.properties));
      if (ours && ours->ledger_version < *ledger) break;
      if (ours) version = *it;
    }
  }
  if (!version) return Ok{};
  explanation.lance_version = version;
  LW_ASSIGN_OR_RETURN(const VersionInfo info, x_table->Describe(*version));
  LW_ASSIGN_OR_RETURN(const std::optional<TableProperties> ours, DecodeProperties(info.properties));
  if (ours) explanation.checkpoint = ours->checkpoint;
  return Ok{};
}

Status Engine::Scan(const std::function<bool(const Rows& rows, const Schema& schema)>& sink,
                    std::optional<uint64_t> as_of) {
  if (!x_table) return Error{ErrorKind::kUsage, Message("there is no table at {}", x_uri), {}};
  std::unique_ptr<Dataset> other;
  Dataset* dataset = x_table.get();
  if (as_of && *as_of != x_table->version()) {
    LW_ASSIGN_OR_RETURN(other, x_storage.OpenDataset(x_uri));
    LW_RETURN_IF_ERROR(other->Checkout(*as_of));
    dataset = other.get();
  }
  LW_ASSIGN_OR_RETURN(const Schema schema, UserSchema(dataset->schema()));
  std::vector<std::string> names;
  for (const Column& column : schema.columns) names.push_back(column.name);
  // Ending early is not an error: this one is made up and taken back.
  bool ended = false;
  const Status scanned =
      dataset->Scan(names, [&](const Rows& rows, std::span<const RowAddress>) -> Status {
        if (sink(rows, schema)) return Ok{};
        ended = true;
        return Error{ErrorKind::kInternal, "the scan was ended", {}};
      });
  return ended ? Status(Ok{}) : scanned;
}

Result<TableStatus> Engine::GetStatus() {
  TableStatus status;
  if (!x_table) return Error{ErrorKind::kUsage, Message("there is no table at {}", x_uri), {}};
  status.lance_version = x_table->version();
  status.ledger_version = x_committed.ledger_version;
  status.rows = x_table->count_rows();
  const StateHead& head = x_state.head();
  status.tombstones = head.tombstones;
  for (const Fragment& fragment : x_table->fragments()) {
    ++status.fragments;
    status.deleted_rows += fragment.deleted_rows;
    status.data_bytes += fragment.bytes;
  }
  for (const auto& [key, stored] : x_state.extras()) {
    status.kept_rows += stored.extra.kept.size();
    status.waiting_changes += stored.extra.waiting.has_value();
    if (stored.extra.quarantined) status.quarantined_keys.push_back(KeyToText(stored.key));
    if (stored.extra.held) status.held_keys.push_back(KeyToText(stored.key));
  }
  std::sort(status.quarantined_keys.begin(), status.quarantined_keys.end());
  std::sort(status.held_keys.begin(), status.held_keys.end());
  LW_ASSIGN_OR_RETURN(const std::vector<DeadLetter> letters, DeadLetters());
  status.dead_letters = letters.size();
  status.checkpoints = x_checkpoints.size();
  if (const auto& floor = head.floors.of_all_rows()) status.floors[""] = *floor;
  for (const auto& [origin, floor] : head.floors.of_origins()) {
    status.floors[ToText(origin)] = floor;
  }
  status.epoch = head.epoch;
  status.writer_epoch = x_committed.writer_epoch;
  status.positions = x_committed.positions;
  status.foreign_changes = x_foreign;
  status.totals = head.totals;
  status.index = x_index.in_memory() ? "memory" : "rocksdb";
  status.index_bytes = x_index.bytes_held();
  return status;
}

Result<std::vector<VersionInfo>> Engine::Log(uint64_t limit) {
  std::vector<VersionInfo> log;
  if (!x_table) return Error{ErrorKind::kUsage, Message("there is no table at {}", x_uri), {}};
  LW_ASSIGN_OR_RETURN(std::vector<uint64_t> versions, x_table->Versions());
  for (auto it = versions.rbegin(); it != versions.rend() && log.size() < limit; ++it) {
    LW_ASSIGN_OR_RETURN(VersionInfo info, x_table->Describe(*it));
    log.push_back(std::move(info));
  }
  return log;
}

}  // namespace lastword
