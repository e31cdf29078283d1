// Every script of at most 4 changes of one key over 4 versions, {delete, complete image, one column
// hidden, both hidden}, with every cut into checkpoints and restarts, against an oracle that merges
// nothing: each column of the newest image has its value from the newest older image that showed
// it.
#include <gtest/gtest.h>

#include "model/script.h"

namespace lastword {
namespace {

constexpr int kLengthMax = 4;
constexpr int kVersions = 4;
constexpr int kForms = 4;

enum Form { kDeleted, kComplete, kHiddenA, kHiddenBoth };

struct Letter {
  int version = 0;
  Form form = kDeleted;
  bool shows(int column) const { return form == kComplete || (form == kHiddenA && column == 1); }
  std::string value(int column) const {
    return (column == 0 ? "a" : "b") + std::to_string(version) + (form == kComplete ? "" : "p");
  }
};

TestChange ChangeOf(const Letter& letter) {
  const At at{static_cast<uint64_t>(letter.version)};
  if (letter.form == kDeleted) return Delete(1, at);
  return Upsert(1, at, letter.shows(0) ? letter.value(0) : kHidden,
                letter.shows(1) ? letter.value(1) : kHidden);
}

// Says what becomes of each letter and what is left, from nothing but the list of those that came
// before.
class Oracle {
 public:
  // The outcome; empty for unavailable_without_base.
  std::optional<Outcome> Arrive(const Letter& letter) {
    const Letter* newest = Newest();
    // A delete ranks below an image at its position.
    const auto order = [](const Letter& l) { return l.version * 2 + (l.form != kDeleted); };
    if (newest != nullptr && order(letter) < order(*newest)) {
      const bool tells = newest->form != kDeleted && Tells(letter, *newest);
      x_seen.push_back(letter);
      return tells ? Outcome::kApplied : Outcome::kStale;
    }
    if (newest != nullptr && order(letter) == order(*newest)) {
      return letter.form == newest->form ? Outcome::kRepeat : Outcome::kConflict;
    }
    const bool needs_base = letter.form == kHiddenA || letter.form == kHiddenBoth;
    if (needs_base && (newest == nullptr || newest->form == kDeleted)) return std::nullopt;
    x_seen.push_back(letter);
    return Outcome::kApplied;
  }

  std::string Text() const {
    const Letter* newest = Newest();
    if (newest == nullptr || newest->form == kDeleted) return "";
    return "1=" + ValueOf(0, *newest) + "," + ValueOf(1, *newest) + " ";
  }

 private:
  const Letter* Newest() const {
    const Letter* newest = nullptr;
    for (const Letter& seen : x_seen) {
      if (newest == nullptr || seen.version * 2 + (seen.form != kDeleted) >
                                   newest->version * 2 + (newest->form != kDeleted)) {
        newest = &seen;
      }
    }
    return newest;
  }

  // The image that a column of `row` has its value from; of several with one version the first.
  const Letter* SourceOf(int column, const Letter& row) const {
    const Letter* source = row.shows(column) ? &row : nullptr;
    if (source != nullptr) return source;
    for (const Letter& seen : x_seen) {
      if (!seen.shows(column) || seen.version >= row.version) continue;
      if (source == nullptr || seen.version > source->version) source = &seen;
    }
    return source;
  }
  std::string ValueOf(int column, const Letter& row) const {
    return SourceOf(column, row)->value(column);
  }

  bool Tells(const Letter& letter, const Letter& row) const {
    for (const int column : {0, 1}) {
      if (row.shows(column) || !letter.shows(column)) continue;
      if (letter.version > SourceOf(column, row)->version) return true;
    }
    return false;
  }

  std::vector<Letter> x_seen;  // in order of arrival; conflicts and errors are not seen
};

TEST(Exhaustive, PartialImagesInEveryOrder) {
  StateOptions options;
  options.on_conflict = OnConflict::kQuarantine;
  constexpr int kLetters = kVersions * kForms;
  uint64_t scripts = 0;
  for (int length = 1; length <= kLengthMax; ++length) {
    uint64_t count = 1;
    for (int i = 0; i < length; ++i) count *= kLetters;
    for (uint64_t number = 0; number < count; ++number) {
      Oracle oracle;
      std::vector<Step> script;
      uint64_t rest = number;
      for (int i = 0; i < length; ++i, rest /= kLetters) {
        const Letter letter{static_cast<int>(rest % kVersions) + 1,
                            static_cast<Form>(rest / kVersions % kForms)};
        const std::optional<Outcome> outcome = oracle.Arrive(letter);
        script.push_back(outcome ? Step(ChangeOf(letter), *outcome)
                                 : Step(ChangeOf(letter), ErrorKind::kUnavailableWithoutBase));
      }
      ++scripts;
      ASSERT_TRUE(AlwaysGives(options, script, oracle.Text()));
    }
  }
  std::printf("%llu scripts of partial images, every cut, 0 differences\n",
              static_cast<unsigned long long>(scripts));
}

}  // namespace
}  // namespace lastword
