// What versions of a table say of themselves: written now and read back, and as it was written
// before.
#include "commit/properties.h"

#include <gtest/gtest.h>

namespace lastword {
namespace {

// As the first programs wrote it: one floor, one end of a snapshot, no source tables.
constexpr const char* kFirstState =
    R"({"epoch":1,"highest_hi":9,"tombstones":2,"floor":"0/5/0/0","snapshot_end":"1/100/0/0",)"
    R"("counts":[1,2,3,4,5,6,7],"inputs":[{"name":"t:0","offset":7,"highest":"1/9/0/2",)"
    R"("snapshots":[[0,100]],"epochs":[[4,1]]}]})";

Result<std::optional<TableProperties>> Decode(const std::string& state) {
  return DecodeProperties({{"lastword.format", "1"},
                           {"lastword.writer_epoch", "3"},
                           {"lastword.ledger", "4"},
                           {"lastword.state", state},
                           {"lastword.positions", R"({"t:0":"7"})"}});
}

TEST(Properties, OfTheFirstProgramsAreReadForEver) {
  const auto decoded = Decode(kFirstState);
  ASSERT_TRUE(decoded.ok()) << ToString(decoded.error());
  const StateHead& head = (*decoded)->head;
  EXPECT_EQ(head.floors.of_all_rows(), (Version{0, 5, 0, 0}));
  EXPECT_FALSE(head.floors.any_of_origins());
  ASSERT_EQ(head.snapshot_ends.size(), 1u);
  EXPECT_TRUE(head.snapshot_ends[0].origin.all_rows());
  EXPECT_EQ(head.snapshot_ends[0].version, (Version{1, 100, 0, 0}));
  ASSERT_EQ(head.inputs.states().size(), 1u);
  EXPECT_TRUE(head.inputs.states()[0].origin.all_rows());
  EXPECT_EQ(head.inputs.states()[0].applied_offset, 7u);
  EXPECT_EQ(head.totals.held, 7u);
  EXPECT_EQ((*decoded)->positions.at("t:0"), "7");
}

TEST(Properties, OfSourceTablesComeBack) {
  TableProperties written;
  StateHead& head = written.head;
  const Origin a{{"db", "src"}, {"x", "a\"\n"}}, b{{"db", "src"}, {"x", "b"}};
  head.floors.Raise({}, {0, 1, 0, 0});
  head.floors.Raise(a, {0, 9, 8, 7});
  head.floors.Raise(b, {0, 3, 0, 0});
  head.floors.Raise(b, {0, 2, 0, 0});
  head.snapshot_ends = {{a, {0, 50, 0, 0}, false}, {b, {0, 60, 0, 0}, true}};
  (void)head.inputs.NumberOf("t:0", a, 0);
  (void)head.inputs.NumberOf("t:0", b, 0);
  const auto decoded = DecodeProperties(EncodeProperties(written));
  ASSERT_TRUE(decoded.ok()) << ToString(decoded.error());
  const StateHead& read = (*decoded)->head;
  EXPECT_EQ(read.floors.OfOrigin(a), (Version{0, 9, 8, 7}));
  EXPECT_EQ(read.floors.OfOrigin(b), (Version{0, 3, 0, 0}));
  EXPECT_EQ(read.floors.OfOrigin({{"src"}, {"c"}}), (Version{0, 1, 0, 0}));
  ASSERT_EQ(read.snapshot_ends.size(), 2u);
  EXPECT_EQ(read.snapshot_ends[1].origin, b);
  EXPECT_TRUE(read.snapshot_ends[1].shared);
  EXPECT_FALSE(read.snapshot_ends[0].shared);
  ASSERT_EQ(read.inputs.states().size(), 2u);
  EXPECT_EQ(read.inputs.states()[0].origin, a);
}

TEST(Properties, SourceTablesThatCannotBeReadAreCorrupt) {
  for (const char* part :
       {R"("floors":{})", R"("floors":[{"origin":"a","version":"0/1/0/0"}])",
        R"("floors":[{"origin":[["a"]],"version":"0/1/0/0"}])", R"("floors":[{"version":7}])",
        R"("snapshot_ends":[{}])", R"("snapshot_ends":[1])"}) {
    const auto decoded =
        Decode(R"({"epoch":0,"highest_hi":0,"tombstones":0,"counts":[0,0,0,0,0,0,0],"inputs":[],)" +
               std::string(part) + "}");
    ASSERT_FALSE(decoded.ok()) << part;
    EXPECT_EQ(decoded.error().kind, ErrorKind::kStorageCorrupt) << part;
  }
}

}  // namespace
}  // namespace lastword
