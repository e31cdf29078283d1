// What every source offers the step loop: changes in order of arrival, and positions to resume
// from. A position is opaque outside its source and never orders rows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codec/decoder.h"
#include "lastword/status.h"

namespace lastword {

/// What one destination table has already committed.
struct ResumePoint {
  /// The position stored for an input; empty = never seen. Called while the source opens inputs.
  std::function<std::optional<std::string>(const std::string& input)> position_of;
  uint32_t epoch = 0;     // of the table: a declared epoch lets an input start anew
  bool skip_all = false;  // the table needs nothing of this run
};

/// What one call of Next brought.
struct Delivery {
  enum class State : uint8_t { kMore, kEnd };  // kEnd: every input is at its end, nothing was read

  codec::Decoded decoded;
  /// One a table: heads before it are already part of that table (the source had to start earlier
  /// for another one) and are not applied again.
  std::vector<size_t> first_new;
  /// One a table, or empty: the epoch in which the logs of this delivery were made anew, 0 = never.
  /// Their offsets started again with it: none of them belongs to an earlier epoch.
  std::vector<uint32_t> logs_began;
  /// One a table, or empty: the record that decoded.error stops at is already part of that table.
  std::vector<bool> error_known;
  State state = State::kMore;
  std::vector<std::string> notes;  // for people: "a.ndjson: already applied up to byte 120 …"
};

/// One run over inputs. Calls come from one thread, in the order Resume, SetTables, Next ….
class Source {
 public:
  using Positions = std::map<std::string, std::string>;

  virtual ~Source() = default;

  /// Says where the tables stand, in the order of the table specs. Called once, first.
  virtual void Resume(std::vector<ResumePoint> tables) = 0;
  /// Takes the specs to decode with; called again after each granted SchemaRequest.
  virtual void SetTables(const std::vector<codec::TableSpec>& tables) = 0;
  /// Reads and decodes on, at most `records_max` records. A schema request or a bad record ends the
  /// delivery in front of that record and the next call begins with it again. Errors:
  /// kSourceRewound, kSourceUnavailable, kUsage; everything handed out before stays valid. Places
  /// of bad records and changes name inputs as tables know them; NameForPeople translates.
  virtual Status Next(uint64_t records_max, Delivery& out) = 0;
  /// Moves behind the record at which the last delivery stopped, without decoding it; its bytes.
  virtual Result<std::string> SkipRecord() = 0;
  /// The record that `head`, of the last delivery, came from, as it stood in its input.
  virtual std::string RecordOf(const ChangeHead& head) const = 0;

  /// Where `table` resumes once everything handed out is committed. Inputs without positions
  /// (stdin) are missing.
  virtual Positions Behind(size_t table) const = 0;
  /// The same once only what stands in front of `head`, of the last delivery, is committed.
  virtual Positions Before(size_t table, const ChangeHead& head) const = 0;

  /// The input as the user named it, for messages; an unknown one is given back unchanged.
  virtual std::string NameForPeople(const std::string& input) const = 0;
  /// Read so far and in all, in bytes of storage; total 0 = unknown.
  struct Progress {
    uint64_t done = 0, total = 0;
  };
  virtual Progress GetProgress() const = 0;
};

}  // namespace lastword
