#include "model/uuid.h"

#include <gtest/gtest.h>

#include "test/status_matchers.h"

namespace lastword {
namespace {

constexpr char kText[] = "0f8fad5b-d9cb-469f-a165-70867728950e";

TEST(Uuid, EveryFormGivesTheSameBytes) {
  const Result<Uuid> uuid = ParseUuid(kText);
  ASSERT_THAT(uuid, IsOk());
  EXPECT_EQ((*uuid)[0], 0x0f);
  EXPECT_EQ((*uuid)[15], 0x0e);
  EXPECT_EQ(UuidToText({reinterpret_cast<const char*>(uuid->data()), uuid->size()}), kText);
  EXPECT_THAT(ParseUuid("0F8FAD5B-D9CB-469F-A165-70867728950E"), IsOkAnd(*uuid));
  EXPECT_THAT(ParseUuid("0f8fad5bd9cb469fa16570867728950e"), IsOkAnd(*uuid));
}

TEST(Uuid, AnythingElseIsATypeMismatch) {
  for (const std::string_view text :
       {"", "0f8fad5b", "0f8fad5b-d9cb-469f-a165-70867728950", "0f8fad5bd9cb469fa16570867728950g",
        "0f8fad5b-d9cb-469fa-165-70867728950e", "{0f8fad5b-d9cb-469f-a165-70867728950e}",
        "0f8fad5b_d9cb_469f_a165_70867728950e"}) {
    EXPECT_THAT(ParseUuid(text), IsError(ErrorKind::kTypeMismatch)) << text;
  }
}

}  // namespace
}  // namespace lastword
