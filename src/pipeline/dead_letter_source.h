// The records of a dead letter as a source: each is decoded again, alone, as the line that it was.
// Has no positions: the table knows with one commit that its letters were taken and what became of
// them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "commit/dead_letter.h"
#include "source/source.h"

namespace lastword {

class DeadLetterSource : public Source {
 public:
  DeadLetterSource(std::vector<DeadLetter> letters, std::unique_ptr<codec::Decoder> decoder);

  void Resume(std::vector<ResumePoint> tables) override;
  void SetTables(const std::vector<codec::TableSpec>& tables) override;
  Status Next(uint64_t records_max, Delivery& out) override;
  Result<std::string> SkipRecord() override;
  std::string RecordOf(const ChangeHead& head) const override;
  Positions Behind(size_t) const override { return {}; }
  Positions Before(size_t, const ChangeHead&) const override { return {}; }
  std::string NameForPeople(const std::string& input) const override { return input; }
  Progress GetProgress() const override { return {x_next, x_letters.size()}; }

 private:
  std::vector<DeadLetter> x_letters;
  std::unique_ptr<codec::Decoder> x_decoder;
  std::string x_line;  // the record at hand, padded
  size_t x_next = 0;   // the letter to decode next
  size_t x_tables = 0;
};

}  // namespace lastword
