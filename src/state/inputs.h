// What a table remembers of each of its inputs (a partition, a file): how far it was applied and
// what completes the versions of its changes. Where the key tells source tables apart, each of them
// is remembered by itself: positions of two databases in one partition say nothing of each other.
// Part of the committed state: a restart decides like
// the process before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/change_batch.h"
#include "model/origin.h"

namespace lastword {

struct InputState {
  struct From {
    uint64_t offset = 0;  // from this offset on …
    uint64_t value = 0;   // … this holds
  };

  std::string name;
  Origin origin;                           // the source table whose changes are meant
  std::optional<uint64_t> applied_offset;  // highest offset that was decided
  std::optional<Version>
      highest;  // highest version of a positioned change, null-value records aside
  std::vector<From>
      snapshot_lsns;  // LSN of the snapshot reads seen, by the offset of the first read with it
  std::vector<From> epochs;  // declared epochs

  uint32_t EpochAt(uint64_t offset) const;
  /// LSN of the last snapshot read before `offset`; 0 without one in the epoch that holds there. A
  /// re-read gets what the first reading got.
  uint64_t SnapshotLsnBefore(uint64_t offset) const;
  bool IsReread(uint64_t offset) const { return applied_offset && offset <= *applied_offset; }
  /// Takes note of a decided change; false when it says nothing new (a re-read). `ends_record`: it
  /// is the last one of its record, which counts as applied only then.
  bool Applied(const ChangeHead& head, const Version& version, bool ends_record);
  /// True for the first change of a later epoch than any before.
  bool BeginsEpoch(const Version& version) const {
    return highest && version.epoch > highest->epoch;
  }
};

/// The inputs of one table, or of each of its source tables, numbered in the order in which they
/// appeared; numbers are persisted (KeyEntry::delete_input).
class Inputs {
 public:
  /// The number of an input, which is made where it is new; new inputs start in `epoch`. One of a
  /// source table begins with what was remembered before tables were told apart.
  uint32_t NumberOf(const std::string& name, const Origin& origin, uint32_t epoch);
  InputState& at(uint32_t number) { return x_states[number]; }
  const std::vector<InputState>& states() const { return x_states; }
  std::vector<InputState>& states() { return x_states; }

  /// A process begins. Streams ("-", "-2": standard input and pipes) have no positions: what it
  /// reads there is none of what an earlier process read, and nothing counts as read before. Their
  /// numbers stay.
  void RestartStreams();
  /// Input `name` is a log that was made anew in `epoch`. False where that is known already.
  bool BeginLog(const std::string& name, uint32_t epoch);

  /// True when every input of the source table has delivered something at or above `version`.
  bool AllPast(const Origin& origin, const Version& version) const;

 private:
  std::vector<InputState> x_states;
};

/// The version of a change with what its input adds: the snapshot LSN for the first transaction
/// behind a snapshot, the partition's highest version for a null-value record, the epoch.
Version CompleteVersion(const ChangeHead& head, const InputState& input);

}  // namespace lastword
