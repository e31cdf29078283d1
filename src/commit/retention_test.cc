#include "commit/retention.h"

#include <gtest/gtest.h>

#include <numeric>

namespace lastword {
namespace {

// Version v was written at second v and wrote 10 bytes.
class Retention : public ::testing::Test {
 protected:
  Retention() : x_versions(1000) { std::iota(x_versions.begin(), x_versions.end(), 1); }

  uint64_t From(const RetentionPolicy& policy, int64_t now_s = 1000) {
    x_asked = 0;
    VersionFacts facts;
    facts.written_at_ms = [this](uint64_t version) -> Result<int64_t> {
      ++x_asked;
      return static_cast<int64_t>(version) * 1000;
    };
    facts.bytes_since = [this](uint64_t version) { return 10 * (x_versions.back() - version + 1); };
    return *KeepFrom(x_versions, policy, now_s * 1000, facts);
  }

  std::vector<uint64_t> x_versions;
  int x_asked = 0;
};

TEST_F(Retention, TheNewestStay) {
  EXPECT_EQ(From({100, 0, UINT64_MAX}), 901u);
  EXPECT_EQ(From({1, 0, UINT64_MAX}), 1000u);
  EXPECT_EQ(From({1000, 0, 0}), 0u);
  EXPECT_EQ(From({0, 0, 0}), 0u) << "no clean-up";
}

TEST_F(Retention, TheYoungStay) {
  EXPECT_EQ(From({100, 400'000, UINT64_MAX}), 601u);
  EXPECT_LE(x_asked, 10) << "a version that is asked is a manifest that is read";
  EXPECT_EQ(From({100, 10'000, UINT64_MAX}), 901u) << "fewer than the newest that stay";
  EXPECT_EQ(From({100, 2'000'000, UINT64_MAX}), 0u);
  EXPECT_EQ(From({100, 400'000, UINT64_MAX}, 9000), 901u) << "all are old";
}

TEST_F(Retention, TheYoungGoWhenTheyHoldTooMuch) {
  EXPECT_EQ(From({100, 400'000, 2000}), 801u);
  EXPECT_EQ(From({100, 400'000, 0}), 901u);
}

TEST_F(Retention, GapsOfTaggedVersionsDoNotMatter) {
  x_versions.erase(x_versions.begin() + 1, x_versions.begin() + 800);
  EXPECT_EQ(From({100, 0, UINT64_MAX}), 901u);
}

TEST_F(Retention, AnErrorIsPassedOn) {
  VersionFacts facts;
  facts.written_at_ms = [](uint64_t) -> Result<int64_t> {
    return Error{ErrorKind::kStorageUnavailable, "gone"};
  };
  facts.bytes_since = [](uint64_t) { return uint64_t{0}; };
  EXPECT_FALSE(KeepFrom(x_versions, {100, 1, 1}, 0, facts).ok());
}

}  // namespace
}  // namespace lastword
