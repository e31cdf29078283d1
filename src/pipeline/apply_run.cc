#include "pipeline/apply_run.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
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

}  // namespace

ApplyRun::ApplyRun(Source& source, std::vector<Destination> destinations, ApplyOptions options)
    : x_source(source),
      x_destinations(std::move(destinations)),
      x_options(std::move(options)),
      x_results(x_destinations.size()) {}

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
  if (x_delivery.decoded.error) return StopAt(*x_delivery.decoded.error, nullptr);
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
    if (first < next[table])
      LW_RETURN_IF_ERROR(ApplyPart(table, tables[table], first, next[table]));
  }
  return Ok{};
}

Status ApplyRun::ApplyPart(size_t table, ChangeBatch& batch, size_t begin, size_t end) {
  if (begin == end) return Ok{};
  ChangeBatch cut;
  const bool whole = begin == 0 && end == batch.heads.size();
  if (!whole) cut = CutOut(batch, begin, end);
  ChangeBatch& part = whole ? batch : cut;
  std::vector<Outcome> outcomes;
  outcomes.reserve(part.heads.size());
  Status applied = x_destinations[table].table().ApplyBatch(part, outcomes);
  const size_t done = outcomes.size();
  x_changes += done;
  x_uncommitted += done;
  if (done != 0) x_pair_open = (part.heads[done - 1].flags & kUpdateBefore) != 0;
  if (!applied.ok() && done < part.heads.size()) {
    x_failed = part.heads[done];
    // The law decided it, even though the policy stops at it.
    if (applied.error().kind == ErrorKind::kVersionConflict) outcomes.push_back(Outcome::kConflict);
  }
  if (x_options.on_outcomes) x_options.on_outcomes(x_destinations[table].config(), part, outcomes);
  if (!applied.ok()) return ForPeople(std::move(applied.error()), table);
  return Ok{};
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
  if (!granted.ok()) return ForPeople(granted.error(), request.table);
  SendSpecs();
  return Ok{};
}

Status ApplyRun::Finish() {
  x_over = true;
  for (size_t i = 0; i < x_destinations.size(); ++i) {
    if (x_results[i].already_committed) continue;
    if (const Status ended = x_destinations[i].table().EndOfInputs(); !ended.ok()) {
      return StopAt(ForPeople(ended.error(), i), nullptr);
    }
  }
  return Commit(x_options.checkpoint_id, nullptr);
}

bool ApplyRun::CommitDue() const {
  if (!x_options.checkpoint_id.empty() || x_pair_open || x_uncommitted == 0) return false;
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
    request.positions = before != nullptr ? x_source.Before(i, *before) : x_source.Behind(i);
    auto committed = x_destinations[i].table().Commit(request);
    if (!committed.ok()) return ForPeople(std::move(committed.error()), i);
    if (committed->lance_version != 0) x_results[i].lance_version = committed->lance_version;
    if (committed->already_committed) x_results[i].already_committed = true;
    if (committed->committed) ++x_results[i].commits;
  }
  x_uncommitted = 0;
  return Ok{};
}

Status ApplyRun::CommitEarly() {
  x_over = true;
  return Commit({}, nullptr);
}

Error ApplyRun::StopAt(Error error, const ChangeHead* before) {
  x_over = true;
  // Only an error that leaves the tables usable lets what is in front of it be committed.
  const ErrorClass what = ClassOf(error.kind);
  if (what != ErrorClass::kStop && what != ErrorClass::kRetry) return error;
  if (const Status committed = Commit({}, before); !committed.ok()) return committed.error();
  return error;
}

Error ApplyRun::ForPeople(Error error, size_t table) const {
  error.place.table = x_destinations[table].config().name;
  if (!error.place.input.empty()) error.place.input = x_source.NameForPeople(error.place.input);
  return error;
}

}  // namespace lastword
