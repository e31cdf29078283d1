// Sizes, durations, variables and nearest names.
#include "pipeline/config_text.h"

#include <gtest/gtest.h>

namespace lastword {
namespace {

TEST(ConfigText, ReadsSizes) {
  EXPECT_EQ(*ParseSize("4096"), 4096u);
  EXPECT_EQ(*ParseSize("256MiB"), 256ull << 20);
  EXPECT_EQ(*ParseSize("2 GiB"), 2ull << 30);
  EXPECT_EQ(*ParseSize("64kB"), 64000u);
  for (const char* bad : {"", "MiB", "-1", "1.5GiB", "12 parsecs", "99999999999TiB"}) {
    EXPECT_EQ(ParseSize(bad).error().kind, ErrorKind::kUsage) << bad;
  }
}

TEST(ConfigText, ReadsDurations) {
  EXPECT_EQ(ParseDuration("250ms")->count(), 250);
  EXPECT_EQ(ParseDuration("5m")->count(), 300'000);
  for (const char* bad : {"", "1", "s", "1d"}) EXPECT_FALSE(ParseDuration(bad).ok()) << bad;
}

TEST(ConfigText, ExpandsVariables) {
  const VariableLookup variables = [](const std::string& name) -> std::optional<std::string> {
    if (name == "A") return "one";
    if (name == "EMPTY") return "";
    return std::nullopt;
  };
  EXPECT_EQ(*ExpandVariables("x${A}y$A", variables), "xoney$A");
  EXPECT_EQ(*ExpandVariables("${B:-two}/${EMPTY:-three}/${EMPTY}", variables), "two/three/");
  EXPECT_EQ(ExpandVariables("${B}", variables).error().message,
            "the variable B is not set; set it, or give a default with ${B:-default}");
  EXPECT_FALSE(ExpandVariables("${A", variables).ok());
}

TEST(ConfigText, FindsTheNearestName) {
  static constexpr std::string_view kNames[] = {"primary_key", "columns", "name"};
  EXPECT_EQ(NearestName("primery_key", kNames), "primary_key");
  EXPECT_EQ(NearestName("nane", kNames), "name");
  EXPECT_EQ(NearestName("watermark", kNames), "");
  EXPECT_EQ(ListOfNames(kNames), "primary_key, columns or name");
}

}  // namespace
}  // namespace lastword
