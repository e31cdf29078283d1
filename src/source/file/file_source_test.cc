// Resuming, skipping and refusing files, with a decoder that makes one change a line.
#include "source/file/file_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>
#include <utility>

#include "source/file/test_files.h"

namespace lastword::file {
namespace {

// Notes each line as a change of every table; "stop" is a bad record.
class LineDecoder : public codec::Decoder {
 public:
  explicit LineDecoder(std::vector<std::string>& seen) : x_seen(seen) {}
  void DecodeLines(std::string_view chunk, const codec::ChunkPlace& place, bool last,
                   codec::Decoded& out) override {
    out = codec::Decoded();
    out.tables.resize(x_tables);
    uint64_t line = place.line;
    while (!chunk.empty()) {
      const size_t newline = chunk.find('\n');
      EXPECT_TRUE(newline != std::string_view::npos || last);
      const std::string_view text = chunk.substr(0, newline);
      if (text == "stop") {
        out.error = Error{ErrorKind::kBadJson, "no", {.input = place.input, .line = line}};
        return;
      }
      x_seen.push_back(std::to_string(line) + ":" + std::string(text));
      for (ChangeBatch& batch : out.tables) batch.heads.emplace_back().line = line;
      const size_t size = newline == std::string_view::npos ? chunk.size() : newline + 1;
      out.bytes += size;
      chunk.remove_prefix(size);
      ++line;
    }
  }
  void DecodeRecords(std::span<const codec::RawRecord>, const std::vector<std::string>&,
                     codec::Decoded&) override {}
  void SetTables(const std::vector<codec::TableSpec>& tables) override { x_tables = tables.size(); }

 private:
  std::vector<std::string>& x_seen;
  size_t x_tables = 0;
};

using Positions = std::map<std::string, std::string>;

// One run: what was seen, the error that ended it, and where each table resumes.
struct Delivered {
  std::vector<std::string> seen, notes;
  std::vector<size_t> applied;  // a table: changes that were new to it
  std::optional<Error> error;
  std::vector<Positions> behind;
};

struct Known {
  Positions positions;
  uint32_t epoch = 0;
};

Delivered Deliver(const std::vector<std::string>& paths, const std::vector<Known>& tables = {{}},
                  bool from_start = false, uint64_t records_max = UINT64_MAX) {
  Delivered run;
  FileSource source({paths, from_start, 16}, std::make_unique<LineDecoder>(run.seen));
  std::vector<ResumePoint> points;
  for (const Known& known : tables) {
    points.push_back({[&known](const std::string& input) -> std::optional<std::string> {
                        const auto found = known.positions.find(input);
                        if (found == known.positions.end()) return std::nullopt;
                        return found->second;
                      },
                      known.epoch});
  }
  source.Resume(std::move(points));
  source.SetTables(std::vector<codec::TableSpec>(tables.size()));
  run.applied.resize(tables.size());
  Delivery delivery;
  while (true) {
    if (const Status next = source.Next(records_max, delivery); !next.ok()) {
      run.error = next.error();
      break;
    }
    run.notes.insert(run.notes.end(), delivery.notes.begin(), delivery.notes.end());
    for (size_t table = 0; table < tables.size(); ++table) {
      run.applied[table] += delivery.decoded.tables[table].heads.size() - delivery.first_new[table];
    }
    if (delivery.decoded.error) run.error = delivery.decoded.error;
    if (delivery.state == Delivery::State::kEnd || run.error) break;
  }
  for (size_t table = 0; table < tables.size(); ++table) {
    run.behind.push_back(tables[table].positions);
    for (const auto& [input, text] : source.Behind(table)) run.behind[table][input] = text;
  }
  return run;
}

TEST(FileSource, ReadsFilesInOrder) {
  const TestFolder folder;
  const Delivered run = Deliver({folder.Write("b", "x\ny\n"), folder.Write("a", "z")});
  EXPECT_EQ(run.seen, (std::vector<std::string>{"1:x", "2:y", "1:z"}));
  EXPECT_FALSE(run.error);
}

TEST(FileSource, ResumesBehindWhatIsApplied) {
  const TestFolder folder;
  const std::string path = folder.Write("a", "one\ntwo\n");
  const Delivered first = Deliver({path});
  EXPECT_TRUE(first.notes.empty());
  const Delivered again = Deliver({path}, {{first.behind[0]}});
  EXPECT_TRUE(again.seen.empty());
  ASSERT_EQ(again.notes.size(), 1u);
  EXPECT_EQ(again.notes[0], path +
                                ": already applied up to byte 8 (line 2); continuing behind it; "
                                "--from-start applies it again");
  EXPECT_EQ(again.behind, first.behind);

  folder.Write("a", "one\ntwo\nthree\n");
  EXPECT_EQ(Deliver({path}, {{first.behind[0]}}).seen, (std::vector<std::string>{"3:three"}));
  EXPECT_EQ(Deliver({path}, {{first.behind[0]}}, true).seen,
            (std::vector<std::string>{"1:one", "2:two", "3:three"}));
}

TEST(FileSource, TakesEveryWayToNameAFileForOneInput) {
  const TestFolder folder;
  folder.Write("a", "one\n");
  const Delivered first = Deliver({folder.Path("a")});
  EXPECT_TRUE(Deliver({folder.Path("./a")}, {{first.behind[0]}}).seen.empty());
  std::filesystem::create_symlink(folder.Path("a"), folder.Path("link"));
  EXPECT_TRUE(Deliver({folder.Path("link")}, {{first.behind[0]}}).seen.empty());
  EXPECT_EQ(Deliver({folder.Path("a"), folder.Path("./a")}).seen.size(), 1u);
}

TEST(FileSource, GoesOnBehindALastLineWithoutNewline) {
  const TestFolder folder;
  const std::string path = folder.Write("a", "one\ntwo");
  const Delivered first = Deliver({path});
  EXPECT_EQ(first.seen, (std::vector<std::string>{"1:one", "2:two"}));
  folder.Write("a", "one\ntwo\nthree");
  EXPECT_EQ(Deliver({path}, {{first.behind[0]}}).seen, (std::vector<std::string>{"3:three"}));
}

TEST(FileSource, RefusesOtherContent) {
  const TestFolder folder;
  const std::string path = folder.Write("a", "one\ntwo\n");
  const Delivered first = Deliver({path});
  for (const char* text : {"one\nTWO\nthree\n", "one\n", ""}) {
    folder.Write("a", text);
    const Delivered again = Deliver({path}, {{first.behind[0]}});
    EXPECT_TRUE(again.seen.empty());
    ASSERT_TRUE(again.error);
    EXPECT_EQ(again.error->kind, ErrorKind::kSourceRewound);
    EXPECT_EQ(again.error->place.input, path);
    EXPECT_EQ(again.behind, first.behind);
    EXPECT_FALSE(Deliver({path}, {{first.behind[0]}}, true).error);
  }
}

TEST(FileSource, StartsAnewAfterADeclaredEpoch) {
  const TestFolder folder;
  const std::string path = folder.Write("a", "one\ntwo\n");
  const Delivered first = Deliver({path});
  folder.Write("a", "uno\n");
  const Delivered second = Deliver({path}, {{first.behind[0], 1}});
  EXPECT_FALSE(second.error);
  EXPECT_EQ(second.seen, (std::vector<std::string>{"1:uno"}));
  // The new content is held against the new epoch from now on.
  folder.Write("a", "due\n");
  EXPECT_TRUE(Deliver({path}, {{second.behind[0], 1}}).error);
}

TEST(FileSource, StopsAtTheSameRecordAgain) {
  const TestFolder folder;
  const std::string path = folder.Write("a", "one\nstop\nthree\n");
  const Delivered first = Deliver({path});
  ASSERT_TRUE(first.error);
  EXPECT_EQ(first.error->place.input, path);
  EXPECT_EQ(first.error->place.line, 2u);
  const Delivered second = Deliver({path}, {{first.behind[0]}});
  ASSERT_TRUE(second.error);
  EXPECT_EQ(second.error->place.line, 2u);
  EXPECT_EQ(second.behind, first.behind);
}

TEST(FileSource, StartsWhereTheLastTableStands) {
  const TestFolder folder;
  const std::string path = folder.Write("a", "one\n");
  const Delivered first = Deliver({path});
  folder.Write("a", "one\ntwo\nthree\n");
  const Delivered second = Deliver({path}, {{first.behind[0]}});
  const Delivered both = Deliver({path}, {{second.behind[0]}, {first.behind[0]}});
  EXPECT_EQ(both.seen.size(), 2u);
  EXPECT_EQ(both.applied, (std::vector<size_t>{0, 2}));
  EXPECT_EQ(both.behind[0], both.behind[1]);
}

TEST(FileSource, NeverMovesATableBack) {
  const TestFolder folder;
  const std::string path = folder.Write("a", "one\ntwo\nthree\n");
  const Delivered whole = Deliver({path});
  FileSource source({{path}, false, 16}, [] {
    static std::vector<std::string> seen;
    return std::make_unique<LineDecoder>(seen);
  }());
  const auto at_end = [&](const std::string& input) -> std::optional<std::string> {
    return whole.behind[0].at(input);
  };
  const auto nowhere = [](const std::string&) -> std::optional<std::string> { return {}; };
  source.Resume({{at_end, 0}, {nowhere, 0}});
  source.SetTables(std::vector<codec::TableSpec>(2));
  Delivery delivery;
  ASSERT_TRUE(source.Next(1, delivery).ok());
  EXPECT_TRUE(source.Behind(0).empty());
  EXPECT_EQ(source.Behind(1).size(), 1u);
}

TEST(FileSource, GivesThePositionInFrontOfAChange) {
  const TestFolder folder;
  const std::string path = folder.Write("a", "one\ntwo\nthree\n");
  std::vector<std::string> seen;
  FileSource source({{path}}, std::make_unique<LineDecoder>(seen));
  source.Resume({{[](const std::string&) -> std::optional<std::string> { return {}; }, 0}});
  source.SetTables(std::vector<codec::TableSpec>(1));
  Delivery delivery;
  ASSERT_TRUE(source.Next(UINT64_MAX, delivery).ok());
  const Positions before = source.Before(0, delivery.decoded.tables[0].heads[1]);
  EXPECT_EQ(Deliver({path}, {{before}}).seen, (std::vector<std::string>{"2:two", "3:three"}));
}

// What the tables know of byte offsets holds for the content that they were offsets of.
TEST(FileSource, OtherContentFromTheStartIsAnotherInput) {
  const TestFolder folder;
  const std::string path = folder.Write("a", "one\ntwo\n");
  Delivered run = Deliver({path});
  const auto again = [&](const char* bytes, bool from_start, const char* content) {
    folder.Write("a", bytes);
    run = Deliver({path}, {{run.behind[0]}}, from_start);
    ASSERT_FALSE(run.error);
    EXPECT_THAT(run.behind[0].begin()->second, testing::HasSubstr(content)) << bytes;
  };
  again("one\ntwo\nthree\n", true, "\"}");  // it has grown
  again("one\nTWO\n", true, R"("content":1})");
  again("one\nTWO\nthree\n", false, R"("content":1})");
  again("four\n", true, R"("content":2})");
}

TEST(FileSource, PipesHaveNoPosition) {
  const TestFolder folder;
  std::vector<std::string> paths = {folder.Path("one"), folder.Path("two")};
  for (const std::string& path : paths) ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  for (const char* line : {"a\n", "b\n"}) {  // the second run reads other bytes
    std::thread writer([&] {
      for (const std::string& path : paths) std::ofstream(path) << line;
    });
    const Delivered run = Deliver(paths);
    writer.join();
    EXPECT_FALSE(run.error);
    const std::string seen = std::string("1:") + line[0];
    EXPECT_EQ(run.seen, (std::vector<std::string>{seen, seen}));
    EXPECT_TRUE(run.behind[0].empty());
  }
  EXPECT_EQ(InputOf("/dev/null"), "-");
}

TEST(FileSource, ResumesInsideAnArchive) {
  const TestFolder folder;
  const std::string path = folder.Write("a.gz", Gzip("one\ntwo\n"));
  const Delivered first = Deliver({path});
  folder.Write("a.gz", Gzip("one\ntwo\n") + Gzip("three\n"));
  EXPECT_EQ(Deliver({path}, {{first.behind[0]}}).seen, (std::vector<std::string>{"3:three"}));
}

TEST(FilePosition, ReadsBackWhatItWrote) {
  const FilePosition position{12, 3, {0x1234, UINT64_MAX}, 7, 2, 1, true};
  const std::string text = ToString(position);
  EXPECT_EQ(
      text,
      R"({"bytes":12,"lines":3,"digest":"0000000000001234ffffffffffffffff","epoch":7,"began":2,"content":1,"anew":1})");
  EXPECT_EQ(ToString(*ParseFilePosition(text)), text);
  for (const char* bad : {"", "{}", R"({"bytes":-1,"lines":3,"digest":"00"})",
                          R"({"bytes":1,"lines":3,"digest":"zz000000000012340000000000000000"})"}) {
    EXPECT_EQ(ParseFilePosition(bad).error().kind, ErrorKind::kPositionsLost) << bad;
  }
}

}  // namespace
}  // namespace lastword::file
