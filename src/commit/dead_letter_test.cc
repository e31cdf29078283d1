#include "commit/dead_letter.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace lastword {
namespace {

class DeadLetters : public ::testing::Test {
 protected:
  DeadLetters() {
    std::string folder = (std::filesystem::temp_directory_path() / "lastword-XXXXXX").string();
    x_folder = mkdtemp(folder.data());
  }
  ~DeadLetters() override { std::filesystem::remove_all(x_folder); }

  static std::vector<DeadLetter> Letter(const std::string& record) {
    return {{Error{ErrorKind::kBadJson, "bad", {}}, record}};
  }

  // The records of all letters, in order, with the writers of versions in `x_writers`.
  std::string Records() {
    const auto letters = DeadLetterFolder(x_folder).Read(
        0, 100, [this](uint64_t version) -> Result<std::optional<uint64_t>> {
          const auto found = x_writers.find(version);
          return found == x_writers.end() ? std::optional<uint64_t>() : found->second;
        });
    if (!letters.ok()) return ToString(letters.error());
    std::string records;
    for (const DeadLetter& letter : *letters) records += letter.record + " ";
    return records;
  }

  std::string x_folder;
  std::map<uint64_t, uint64_t> x_writers;
};

TEST_F(DeadLetters, BelongToTheWriterOfTheirVersion) {
  const DeadLetterFolder folder(x_folder);
  ASSERT_TRUE(folder.Write(5, 1, Letter("zombie"), false).ok());
  ASSERT_TRUE(folder.Write(5, 2, Letter("heir"), false).ok());
  x_writers[5] = 2;
  EXPECT_EQ(Records(), "heir ");
  ASSERT_TRUE(folder.Write(5, 1, {}, false).ok());
  EXPECT_EQ(Records(), "heir ") << "a writer takes back its own only";
  x_writers.clear();
  EXPECT_EQ(Records(), "heir ") << "of a version that is not kept any more";
}

TEST_F(DeadLetters, OfAnHeirAreLeftAlone) {
  const DeadLetterFolder folder(x_folder);
  ASSERT_TRUE(folder.Write(5, 1, Letter("older"), false).ok());
  ASSERT_TRUE(folder.Write(5, 2, Letter("mine"), false).ok());
  ASSERT_TRUE(folder.Write(5, 3, Letter("heir"), false).ok());
  ASSERT_TRUE(folder.Write(4, 1, Letter("committed"), false).ok());
  ASSERT_TRUE(folder.RemoveAbove(4, 2).ok());
  EXPECT_EQ(Records(), "committed heir ");
}

TEST_F(DeadLetters, OfALostCheckpointGoBeforeTheirVersionDoes) {
  const DeadLetterFolder folder(x_folder);
  ASSERT_TRUE(folder.Write(4, 1, Letter("committed"), false).ok());
  ASSERT_TRUE(folder.Write(5, 1, Letter("zombie"), false).ok());
  ASSERT_TRUE(folder.Write(6, 1, Letter("later"), false).ok());
  x_writers = {{4, 1}, {5, 2}, {6, 2}};
  const auto writer_of = [this](uint64_t version) -> Result<std::optional<uint64_t>> {
    return std::optional<uint64_t>(x_writers.at(version));
  };
  ASSERT_TRUE(folder.RemoveLost(0, 6, writer_of).ok());
  x_writers.clear();
  EXPECT_EQ(Records(), "committed later ");
}

TEST_F(DeadLetters, OfTheFirstFormatAreReadForEver) {
  const DeadLetterFolder folder(x_folder);
  std::ofstream(x_folder + "/00000000000000000007.ndjson")
      << R"({"input":"e","offset":3,"line":1,"kind":"bad_json","message":"m","record":"old"})"
      << "\n";
  std::ofstream(x_folder + "/notes.ndjson") << "not ours\n";
  ASSERT_TRUE(folder.Write(8, 2, Letter("new"), false).ok());
  x_writers[7] = 1;
  x_writers[8] = 2;
  EXPECT_EQ(Records(), "old new ");
  ASSERT_TRUE(folder.RemoveBelow(8).ok());
  EXPECT_EQ(Records(), "new ");
}

}  // namespace
}  // namespace lastword
