#include "state/inputs.h"

#include <algorithm>

namespace lastword {
namespace {

// Above every rank of a log position (docs/ordering.md), in the two bits that hold it.
constexpr uint64_t kRankAboveUpsert = 3;

uint64_t LastBefore(const std::vector<InputState::From>& steps, uint64_t offset_end) {
  uint64_t value = 0;
  for (const InputState::From& step : steps) {
    if (step.offset < offset_end) value = step.value;
  }
  return value;
}

}  // namespace

uint32_t InputState::EpochAt(uint64_t offset) const {
  uint64_t value = 0;
  for (const From& step : epochs) {
    if (step.offset <= offset) value = step.value;
  }
  return static_cast<uint32_t>(value);
}

uint64_t InputState::SnapshotLsnBefore(uint64_t offset) const {
  return LastBefore(snapshot_lsns, offset);
}

bool InputState::Applied(const ChangeHead& head, const Version& version, bool ends_record) {
  const bool first_time = !IsReread(head.offset);
  bool news = first_time;
  if (first_time && BeginsEpoch(version) && SnapshotLsnBefore(head.offset) != 0) {
    // Positions start lower in the new epoch: what the old one's snapshots said ends here.
    snapshot_lsns.push_back({head.offset - 1, 0});
  }
  if (first_time && head.flags & kSnapshotRead) {
    if (snapshot_lsns.empty() || snapshot_lsns.back().value != version.hi) {
      snapshot_lsns.push_back({head.offset, version.hi});
    }
  }
  if (!(head.flags & (kNullValue | kArrivalVersion)) && (!highest || *highest < version)) {
    highest = version;
    news = true;
  }
  if (first_time && ends_record) applied_offset = head.offset;
  return news;
}

uint32_t Inputs::NumberOf(const std::string& name, const Origin& origin, uint32_t epoch) {
  const InputState* of_all = nullptr;
  for (uint32_t i = 0; i < x_states.size(); ++i) {
    if (x_states[i].name != name) continue;
    if (x_states[i].origin == origin) return i;
    if (x_states[i].origin.all_rows()) of_all = &x_states[i];
  }
  InputState state;
  if (of_all != nullptr) {
    state = *of_all;
  } else if (epoch != 0) {
    state.epochs.push_back({0, epoch});
  }
  state.name = name;
  state.origin = origin;
  x_states.push_back(std::move(state));
  return static_cast<uint32_t>(x_states.size() - 1);
}

bool Inputs::BeginLog(const std::string& name, uint32_t epoch) {
  bool begun = false;
  for (InputState& input : x_states) {
    if (input.name != name || input.EpochAt(0) >= epoch) continue;
    // A later epoch may have been declared since.
    const uint32_t now = std::max<uint32_t>(epoch, input.EpochAt(UINT64_MAX));
    const Origin origin = input.origin;
    input = InputState();
    input.name = name;
    input.origin = origin;
    input.epochs.push_back({0, now});
    begun = true;
  }
  return begun;
}

void Inputs::RestartStreams() {
  for (InputState& input : x_states) {
    // A topic may begin with the same sign; its partitions have a colon.
    if (!input.name.starts_with('-') || input.name.find(':') != std::string::npos) continue;
    input.applied_offset.reset();
    input.snapshot_lsns.clear();
  }
}

bool Inputs::AllPast(const Origin& origin, const Version& version) const {
  return std::all_of(x_states.begin(), x_states.end(), [&](const InputState& input) {
    return input.origin != origin || (input.highest && *input.highest >= version);
  });
}

Version CompleteVersion(const ChangeHead& head, const InputState& input) {
  Version version = head.version;
  // Declared in the configuration (on the head) or with `lastword epoch`: the later one holds.
  version.epoch = std::max(version.epoch, input.EpochAt(head.offset));
  if (head.flags & kNoCommitSeen && !input.BeginsEpoch(version)) {
    version.hi = std::max(version.hi, input.SnapshotLsnBefore(head.offset));
  }
  if (head.flags & kNullValue) {
    version = input.highest.value_or(version);
    version.lo |= kRankAboveUpsert;
  }
  return version;
}

}  // namespace lastword
