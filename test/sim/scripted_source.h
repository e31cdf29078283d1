// A source that plays a history to the step loop: partitions in any interleaving, from anywhere at
// or below the committed positions, again and again. Positions are "cursor/high": where the table
// resumes, and up to where it has ever seen the partition.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/history.h"
#include "source/source.h"

namespace lastword::sim {

struct Cursor {
  uint64_t next = 0;  // offset of the next record
  uint64_t high = 0;  // records ever handed out, from the first on
};

std::string ToText(const Cursor& cursor);
Cursor CursorOf(const std::optional<std::string>& position);

class ScriptedSource final : public Source {
 public:
  struct Options {
    bool in_order = false;                 // one record at a time, as it happened
    uint64_t deliveries_max = UINT64_MAX;  // then it is at its end
    uint64_t rewinds_one_in = 0;           // of Resume: 0 = never
  };
  /// Both outlive the source.
  ScriptedSource(const History& history, Random& random, const Options& options);

  void Resume(std::vector<ResumePoint> tables) override;
  void SetTables(const std::vector<codec::TableSpec>&) override {}
  Status Next(uint64_t records_max, Delivery& out) override;
  Result<std::string> SkipRecord() override { return std::string(); }  // no record is bad
  std::string RecordOf(const ChangeHead&) const override { return "{}"; }
  Positions Behind(size_t table) const override;
  Positions Before(size_t table, const ChangeHead& head) const override;
  std::string NameForPeople(const std::string& input) const override { return input; }
  Progress GetProgress() const override { return {}; }

  bool exhausted() const;

 private:
  std::optional<size_t> Choose();

  const History& x_history;
  Random& x_random;
  const Options x_options;
  std::vector<Cursor> x_cursors;
  std::vector<Cursor> x_before;  // at the beginning of the last delivery
  size_t x_last = 0;             // partition of the last delivery
  uint64_t x_deliveries = 0;
};

}  // namespace lastword::sim
