#include "pipeline/apply_run.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "lastword/version.h"
#include "model/key.h"
#include "pipeline/batch_cut.h"

namespace lastword {
namespace {

// The partition in an input's name ("topic:3"); empty where it has none.
std::optional<int32_t> PartitionOf(std::string_view input) {
  const size_t colon = input.rfind(':');
  const std::string_view digits = input.substr(colon == std::string_view::npos ? 0 : colon + 1);
  int32_t partition = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), partition);
  if (digits.empty() || end.ec != std::errc() || end.ptr != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return partition;
}

// Kinds that are one record's own fault. A schema, a route or a source that is wrong would be wrong
// for every record behind it: there the run stops whatever the policy says.
bool IsBadRecord(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kBadJson:
    case ErrorKind::kBadEnvelope:
    case ErrorKind::kMissingKey:
    case ErrorKind::kNullInKey:
    case ErrorKind::kAmbiguousKey:
    case ErrorKind::kUnavailableKey:
    case ErrorKind::kUnavailableWithoutBase:
    case ErrorKind::kTypeMismatch:
    case ErrorKind::kOutOfRange:
    case ErrorKind::kNotFiniteDecimal:
    case ErrorKind::kDecimalOverflow:
    case ErrorKind::kUnsupportedOp:
    case ErrorKind::kNoVersion:
    case ErrorKind::kInvalidOperation:
      return true;
    default:
      return false;
  }
}

// Why a change that was decided is put aside.
Error PutAsideAs(Outcome outcome, const ChangeBatch& batch, const ChangeHead& head) {
  Error error{ErrorKind::kUnavailableWithoutBase,
              "held back behind a bad record of the same key; apply the dead letter once that is "
              "mended"};
  if (outcome == Outcome::kConflict) {
    error = {ErrorKind::kVersionConflict,
             Message("another change of the key carries version {}, and stays until a higher one "
                     "comes (on_conflict: quarantine)",
                     ToString(head.version))};
  }
  error.place.input = batch.inputs[head.input];
  error.place.offset = head.offset;
  if (head.line != 0) error.place.line = head.line;
  error.place.key = KeyToText(batch.KeyOf(head));
  return error;
}

}  // namespace

ApplyRun::ApplyRun(Source& source, std::vector<Destination> destinations, ApplyOptions options)
    : x_source(source),
      x_destinations(std::move(destinations)),
      x_options(std::move(options)),
      x_results(x_destinations.size()),
      x_dead_letters(x_destinations.size()) {}

Status ApplyRun::Start() {
  std::vector<ResumePoint> points;
  bool all_done = !x_options.checkpoint_id.empty();
  for (size_t i = 0; i < x_destinations.size(); ++i) {
    TableImpl& table = x_destinations[i].table();
    ResumePoint point;
    point.position_of = [&table](const std::string& input) { return table.PositionOf(input); };
    // A table that does not exist yet has no status; it begins in epoch 0.
    if (const auto status = table.GetStatus(); status.ok()) {
      point.epoch = status->epoch;
      x_results[i].lance_version = status->lance_version;
    } else if (status.error().kind != ErrorKind::kUsage) {
      return status.error();
    }
    if (!x_options.checkpoint_id.empty()) {
      LW_ASSIGN_OR_RETURN(point.skip_all, table.KnowsCheckpoint(x_options.checkpoint_id));
      x_results[i].already_committed = point.skip_all;
    }
    all_done = all_done && point.skip_all;
    points.push_back(std::move(point));
  }
  x_over = all_done;
  x_source.Resume(std::move(points));
  SendSpecs();
  return Ok{};
}

void ApplyRun::SendSpecs() {
  std::vector<codec::TableSpec> specs;
  for (const Destination& destination : x_destinations) specs.push_back(destination.spec());
  x_source.SetTables(specs);
}

Result<bool> ApplyRun::Step() {
  if (x_over) return false;
  uint64_t records_max = UINT64_MAX;
  if (x_options.checkpoint_every) {
    const uint64_t every = *x_options.checkpoint_every;
    records_max = x_uncommitted < every ? every - x_uncommitted : 1;
  }
  if (const Status read = x_source.Next(records_max, x_delivery); !read.ok()) {
    return StopAt(read.error(), nullptr);
  }
  if (x_options.on_note) {
    for (const std::string& note : x_delivery.notes) x_options.on_note(note);
  }
  if (const Status applied = ApplyDelivery(x_delivery); !applied.ok()) {
    return StopAt(applied.error(), x_failed ? &*x_failed : nullptr);
  }
  if (x_delivery.decoded.schema_request) {
    if (const Status granted = Grant(*x_delivery.decoded.schema_request); !granted.ok()) {
      return StopAt(granted.error(), nullptr);
    }
  }
  if (const auto& error = x_delivery.decoded.error) {
    const auto taker = TakerOf(*error);
    if (!taker) return StopAt(*error, nullptr);
    LW_ASSIGN_OR_RETURN(std::string record, x_source.SkipRecord());
    const std::vector<bool>& known = x_delivery.error_known;
    const bool is_known = *taker < known.size() && known[*taker];
    if (!is_known) {
      Hold(*taker, *error, Version());
      PutAside(*taker, *error, std::move(record));
    }
  }
  if (x_delivery.state == Delivery::State::kEnd) {
    LW_RETURN_IF_ERROR(Finish());
    return false;
  }
  if (CommitDue()) {
    if (const Status committed = Commit({}, nullptr); !committed.ok()) {
      x_over = true;
      return committed.error();
    }
  }
  return true;
}

Status ApplyRun::ApplyDelivery(Delivery& delivery) {
  x_failed.reset();
  std::vector<ChangeBatch>& tables = delivery.decoded.tables;
  size_t busy = 0;
  for (size_t i = 0; i < tables.size(); ++i) {
    SetEpochs(tables[i]);
    if (i < delivery.logs_began.size() && delivery.logs_began[i] != 0) {
      for (const std::string& input : tables[i].inputs) {
        x_destinations[i].table().BeginLog(input, delivery.logs_began[i]);
      }
    }
    if (delivery.first_new[i] < tables[i].heads.size()) ++busy;
  }
  if (busy <= 1) {
    for (size_t i = 0; i < tables.size(); ++i) {
      LW_RETURN_IF_ERROR(ApplyPart(i, tables[i], delivery.first_new[i], tables[i].heads.size()));
    }
    return Ok{};
  }
  // Several tables: in the order of arrival, so that a change that fails leaves every table exactly
  // in front of it.
  std::vector<size_t> next(tables.size(), 0);
  const std::vector<uint32_t>& order = delivery.decoded.order;
  for (size_t at = 0; at < order.size();) {
    const uint32_t table = order[at];
    const size_t begin = next[table];
    while (at < order.size() && order[at] == table) ++at, ++next[table];
    const size_t first = std::max(begin, delivery.first_new[table]);
    LW_RETURN_IF_ERROR(ApplyPart(table, tables[table], first, std::max(first, next[table])));
  }
  return Ok{};
}

Status ApplyRun::ApplyPart(size_t table, ChangeBatch& batch, size_t begin, size_t end) {
  if (begin == end) return Ok{};
  const TableConfig& config = x_destinations[table].config();
  if (config.on_bad_record == OnBadRecord::kDeadLetter) {
    return ApplyOrPutAside(table, batch, begin, end);
  }
  ChangeBatch cut;
  const bool whole = begin == 0 && end == batch.heads.size();
  if (!whole) cut = CutOut(batch, begin, end);
  ChangeBatch& part = whole ? batch : cut;
  std::vector<Outcome> outcomes;
  const Status applied = ApplyOnce(table, part, outcomes);
  if (x_options.on_outcomes) x_options.on_outcomes(config, part, outcomes);
  PutDecidedAside(table, part, outcomes);
  return applied;
}

Status ApplyRun::ApplyOrPutAside(size_t table, const ChangeBatch& batch, size_t begin, size_t end) {
  while (begin < end) {
    // A table takes the rows of what it is given, so each try works on a copy.
    ChangeBatch part = CutOut(batch, begin, end);
    std::vector<Outcome> outcomes;
    Status applied = ApplyOnce(table, part, outcomes);
    if (x_options.on_outcomes) {
      x_options.on_outcomes(x_destinations[table].config(), part, outcomes);
    }
    PutDecidedAside(table, part, outcomes);
    if (applied.ok()) return Ok{};
    if (!x_failed || !IsBadRecord(applied.error().kind)) return applied;
    Hold(table, applied.error(), x_failed->version);
    PutAside(table, applied.error(), x_source.RecordOf(*x_failed));
    // The record as a whole lies in the dead letter now: its other half is not tried alone, and
    // each of its keys is held.
    for (begin += outcomes.size(); begin < end; ++begin) {
      const ChangeHead& head = batch.heads[begin];
      if (head.input != x_failed->input || head.offset != x_failed->offset) break;
      if (head.kind == Kind::kTruncate) continue;
      x_destinations[table].table().HoldKey(batch.KeyOf(head), head.version);
    }
    x_failed.reset();
  }
  return Ok{};
}

Status ApplyRun::ApplyOnce(size_t table, ChangeBatch& part, std::vector<Outcome>& outcomes) {
  outcomes.reserve(part.heads.size());
  Status applied = x_destinations[table].table().ApplyBatch(part, outcomes);
  const size_t done = outcomes.size();
  x_changes += done;
  x_uncommitted += done;
  if (done != 0) x_pair_open = (part.heads[done - 1].flags & kUpdateBefore) != 0;
  if (applied.ok()) return applied;
  if (done < part.heads.size()) {
    x_failed = part.heads[done];
    // The law decided it, even though the policy stops at it.
    if (applied.error().kind == ErrorKind::kVersionConflict) outcomes.push_back(Outcome::kConflict);
  }
  return In(table, std::move(applied.error()));
}

std::optional<size_t> ApplyRun::TakerOf(const Error& error) const {
  if (!IsBadRecord(error.kind)) return std::nullopt;
  const auto takes = [&](size_t table) {
    return x_destinations[table].config().on_bad_record == OnBadRecord::kDeadLetter;
  };
  bool all_take = true;
  for (size_t table = 0; table < x_destinations.size(); ++table) {
    if (x_destinations[table].config().name == error.place.table) {
      return takes(table) ? std::optional<size_t>(table) : std::nullopt;
    }
    all_take = all_take && takes(table);
  }
  // A record that names no table: the first takes it, but only where no table would have stopped.
  return all_take ? std::optional<size_t>(0) : std::nullopt;
}

void ApplyRun::Hold(size_t table, const Error& error, const Version& version) {
  TableImpl& destination = x_destinations[table].table();
  if (error.place.key.empty() || destination.schema().key.empty()) return;
  const auto key = ParseKey(destination.schema(), error.place.key);
  if (key.ok()) destination.HoldKey(*key, version);
}

void ApplyRun::PutAside(size_t table, const Error& error, std::string record) {
  x_destinations[table].table().AddDeadLetter({error, std::move(record)});
  ++x_dead_letters[table];
  ++x_uncommitted;
}

void ApplyRun::PutDecidedAside(size_t table, const ChangeBatch& part,
                               std::span<const Outcome> outcomes) {
  const bool quarantine = x_destinations[table].config().on_conflict == OnConflict::kQuarantine;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome outcome = outcomes[i];
    if (outcome != Outcome::kHeld && !(outcome == Outcome::kConflict && quarantine)) continue;
    const ChangeHead& head = part.heads[i];
    const Error error = In(table, PutAsideAs(outcome, part, head));
    if (outcome == Outcome::kHeld) Hold(table, error, head.version);
    PutAside(table, error, x_source.RecordOf(head));
  }
}

void ApplyRun::SetEpochs(ChangeBatch& batch) const {
  if (x_options.epochs.empty()) return;
  for (ChangeHead& head : batch.heads) {
    const auto partition = PartitionOf(batch.inputs[head.input]);
    uint64_t from = 0;
    for (const EpochRule& rule : x_options.epochs) {
      if (rule.partition != partition || head.offset < rule.from_offset) continue;
      if (rule.from_offset < from) continue;
      from = rule.from_offset;
      head.version.epoch = rule.epoch;
    }
  }
}

Status ApplyRun::Grant(const codec::SchemaRequest& request) {
  const Status granted = x_destinations[request.table].Grant(request.schema);
  if (!granted.ok()) return In(request.table, granted.error());
  SendSpecs();
  return Ok{};
}

Status ApplyRun::Finish() {
  x_over = true;
  for (size_t i = 0; i < x_destinations.size(); ++i) {
    if (x_results[i].already_committed) continue;
    if (const Status ended = x_destinations[i].table().EndOfInputs(); !ended.ok()) {
      return StopAt(In(i, ended.error()), nullptr);
    }
  }
  LW_RETURN_IF_ERROR(Commit(x_options.checkpoint_id, nullptr));
  for (size_t i = 0; i < x_destinations.size(); ++i) {
    NoteMaintenance(i, x_destinations[i].table().Settle());
  }
  return Ok{};
}

void ApplyRun::NoteMaintenance(size_t table, const Status& done) const {
  if (done.ok() || !x_options.on_note) return;
  x_options.on_note("not compacted: " + ToString(In(table, done.error())));
}

bool ApplyRun::CommitDue() const {
  if (x_options.all_or_nothing || !x_options.checkpoint_id.empty()) return false;
  if (x_pair_open || x_uncommitted == 0) return false;
  if (x_options.checkpoint_every && x_uncommitted >= *x_options.checkpoint_every) return true;
  uint64_t bytes = 0;
  for (const Destination& destination : x_destinations) {
    bytes += destination.table().pending_bytes();
  }
  return bytes >= x_options.pending_bytes_max;
}

Status ApplyRun::Commit(const std::string& id, const ChangeHead* before) {
  for (size_t i = 0; i < x_destinations.size(); ++i) {
    if (x_results[i].already_committed) continue;
    CheckpointRequest request;
    request.id = id;
    request.more_at_once = true;
    request.positions = before != nullptr ? x_source.Before(i, *before) : x_source.Behind(i);
    auto committed = x_destinations[i].table().Commit(request);
    if (!committed.ok()) return In(i, std::move(committed.error()));
    if (committed->lance_version != 0) x_results[i].lance_version = committed->lance_version;
    if (committed->already_committed) x_results[i].already_committed = true;
    if (committed->committed) ++x_results[i].commits;
    if (committed->maintenance_error) NoteMaintenance(i, *committed->maintenance_error);
  }
  x_uncommitted = 0;
  return Ok{};
}

Status ApplyRun::CommitEarly() {
  x_over = true;
  if (x_options.all_or_nothing) return Ok{};
  return Commit({}, nullptr);
}

Error ApplyRun::StopAt(Error error, const ChangeHead* before) {
  x_over = true;
  if (!error.place.input.empty()) error.place.input = x_source.NameForPeople(error.place.input);
  // Only an error that leaves the tables usable lets what is in front of it be committed.
  const ErrorClass what = ClassOf(error.kind);
  if (x_options.all_or_nothing) return error;
  if (what != ErrorClass::kStop && what != ErrorClass::kRetry) return error;
  if (const Status committed = Commit({}, before); !committed.ok()) return committed.error();
  return error;
}

Error ApplyRun::In(size_t table, Error error) const {
  error.place.table = x_destinations[table].config().name;
  return error;
}

}  // namespace lastword
