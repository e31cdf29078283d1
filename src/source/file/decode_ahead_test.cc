// What is decoded ahead by threads is what one thread delivers: changes, stops, bytes of records,
// positions, whatever the chunks, the limits and the number of threads. Runs under TSan.
#include <gtest/gtest.h>

#include "base/random.h"
#include "codec/decoded_text.h"
#include "source/file/file_source.h"
#include "source/file/test_files.h"

namespace lastword::file {
namespace {

struct Setting {
  size_t threads = 0;
  size_t chunk_bytes = 1 << 20;
  uint64_t ahead_bytes = 1 << 20;
  uint64_t records_seed = 0;  // 0: no limit on a delivery's records
};

struct Seen {
  std::vector<std::string> changes;  // with their places and records
  std::vector<std::string> stops;    // errors, skipped records and schema changes, with positions
};

// A stream whose table grows columns half-way, with lines that no decoder reads and empty ones.
std::string Stream(uint64_t seed, uint64_t lines, bool ends_with_newline) {
  Random random(seed);
  std::string text;
  for (uint64_t i = 0; i < lines; ++i) {
    const std::string seq = std::to_string(i), key = std::to_string(random.Below(50));
    if (random.Below(40) == 0) text += "\n";
    if (random.Below(60) == 0) text += R"({"seq":)" + seq + "\n";
    if (random.Below(8) == 0) {
      text += R"({"seq":)" + seq + R"(,"key":"k)" + key + R"(","op":"delete"})" + "\n";
      continue;
    }
    const std::string column = "c" + std::to_string(i * 5 / lines);
    text += R"({"seq":)" + seq + R"(,"key":"k)" + key + R"(","op":"upsert","value":{")" + column +
            R"(":)" + std::to_string(random.Below(1000)) + "}}\n";
  }
  if (!ends_with_newline) text.pop_back();
  return text;
}

std::string Text(const Source::Positions& positions) {
  std::string text;
  for (const auto& [input, position] : positions) text += " " + input + "=" + position;
  return text;
}

Seen Deliver(const std::vector<std::string>& paths, const Setting& setting,
             const Source::Positions& from = {}) {
  const auto decoder = [] { return codec::MakeDecoder(codec::Format::kSequenced, {}); };
  std::vector<std::unique_ptr<codec::Decoder>> ahead;
  while (ahead.size() < setting.threads) ahead.push_back(decoder());
  FileSource source({paths, false, setting.chunk_bytes, setting.ahead_bytes}, decoder(),
                    std::move(ahead));
  std::vector<codec::TableSpec> specs = {codec::DiscoveredSpec("t", {"key"})};
  source.Resume({{[&](const std::string& input) -> std::optional<std::string> {
                    const auto found = from.find(input);
                    return found == from.end() ? std::nullopt : std::optional(found->second);
                  },
                  0}});
  source.SetTables(specs);
  Seen seen;
  Random random(setting.records_seed);
  for (Delivery delivery; delivery.state == Delivery::State::kMore;) {
    const uint64_t limit = setting.records_seed == 0 ? UINT64_MAX : 1 + random.Below(300);
    const Status status = source.Next(limit, delivery);
    EXPECT_TRUE(status.ok());
    if (!status.ok()) return seen;
    EXPECT_LE(delivery.decoded.records, limit);
    ChangeBatch& batch = delivery.decoded.tables[0];
    for (const ChangeHead& head : batch.heads) {
      std::string change = codec::ChangeToText(specs[0], batch, head) + " " +
                           std::to_string(head.offset) + ":" + std::to_string(head.line) + " " +
                           batch.inputs[head.input];
      // The digest of everything in front of a change: for some, because it reads it all.
      if (head.line % 97 == 0) change += source.RecordOf(head) + Text(source.Before(0, head));
      seen.changes.push_back(std::move(change));
    }
    if (const auto& request = delivery.decoded.schema_request) {
      specs[0].schema = request->schema;
      seen.stops.push_back("schema" + Text(source.Behind(0)));
      source.SetTables(specs);
    }
    if (const auto& error = delivery.decoded.error) {
      seen.stops.push_back(ToString(*error) + Text(source.Behind(0)));
      seen.stops.push_back(*source.SkipRecord() + Text(source.Behind(0)));
    }
  }
  seen.stops.push_back("end" + Text(source.Behind(0)));
  return seen;
}

void ExpectSame(const Seen& a, const Seen& b) {
  EXPECT_EQ(a.changes, b.changes);
  EXPECT_EQ(a.stops, b.stops);
}

TEST(DecodeAhead, DeliversWhatOneThreadDelivers) {
  const TestFolder folder;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const std::vector<std::string> paths = {
        folder.Write("a", Stream(seed, 700, seed % 2 == 0)),
        folder.Write("b.gz", Gzip(Stream(seed + 100, 400, true))), folder.Write("c", "")};
    const Seen expected = Deliver(paths, {});
    ASSERT_GT(expected.changes.size(), 1000u);
    ASSERT_GT(expected.stops.size(), 10u);
    Random random(seed);
    for (size_t threads = 1; threads <= 3; ++threads) {
      const Setting setting{threads, 64 + random.Below(20'000), 1 + random.Below(40'000),
                            random.Below(2) * seed};
      SCOPED_TRACE(testing::Message() << "seed " << seed << " threads " << threads);
      ExpectSame(Deliver(paths, setting), expected);
    }
  }
}

TEST(DecodeAhead, GoesOnBehindALastLineWithoutNewline) {
  const TestFolder folder;
  const std::string text = Stream(7, 300, true);
  const size_t cut = text.find('\n', text.size() / 2);
  const auto positions_of = [](const Seen& seen) {
    const std::string& end = seen.stops.back();
    const size_t equals = end.find('=');
    return Source::Positions{{end.substr(4, equals - 4), end.substr(equals + 1)}};
  };
  std::vector<Seen> runs;
  for (const size_t threads : {0, 2}) {
    const std::string path = folder.Write("a", text.substr(0, cut));
    const Seen first = Deliver({path}, {threads, 500});
    folder.Write("a", text);
    runs.push_back(Deliver({path}, {threads, 500}, positions_of(first)));
    EXPECT_LT(runs.back().changes.size(), 200u);
    EXPECT_GT(runs.back().changes.size(), 100u);
  }
  ExpectSame(runs[0], runs[1]);
}

TEST(DecodeAhead, GivesTheLinesBeforeAReadErrorFirst) {
  const TestFolder folder;
  const std::string whole = Gzip(Stream(3, 5000, true));
  const std::string path =
      folder.Write("a.gz", std::string_view(whole).substr(0, whole.size() / 2));
  const auto decoder = [] { return codec::MakeDecoder(codec::Format::kSequenced, {}); };
  std::vector<std::unique_ptr<codec::Decoder>> ahead;
  ahead.push_back(decoder());
  FileSource source({{path}, false, 1000}, decoder(), std::move(ahead));
  source.Resume({{[](const std::string&) { return std::optional<std::string>(); }, 0}});
  source.SetTables(
      {codec::SpecOf("t", {{"key", "string"}, {"c0", "int64"}, {"c1", "int64"}}, {"key"})});
  Delivery delivery;
  uint64_t changes = 0;
  Status status = Ok{};
  while ((status = source.Next(UINT64_MAX, delivery)).ok() &&
         delivery.state == Delivery::State::kMore) {
    changes += delivery.decoded.records;
    if (delivery.decoded.error) {
      ASSERT_TRUE(source.SkipRecord().ok());
    }
  }
  EXPECT_GT(changes, 500u);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kSourceUnavailable);
  EXPECT_FALSE(source.Next(UINT64_MAX, delivery).ok());
}

TEST(DecodeAhead, EndsInTheMiddleOfAFile) {
  const TestFolder folder;
  const std::string path = folder.Write("a", Stream(5, 20'000, true));
  for (size_t threads = 1; threads <= 4; ++threads) {
    std::vector<std::unique_ptr<codec::Decoder>> ahead;
    const auto decoder = [] { return codec::MakeDecoder(codec::Format::kSequenced, {}); };
    while (ahead.size() < threads) ahead.push_back(decoder());
    FileSource source({{path}, false, 4096, 16 << 10}, decoder(), std::move(ahead));
    source.Resume({{[](const std::string&) { return std::optional<std::string>(); }, 0}});
    source.SetTables({codec::DiscoveredSpec("t", {"key"})});
    Delivery delivery;
    ASSERT_TRUE(source.Next(UINT64_MAX, delivery).ok());
    EXPECT_EQ(source.Behind(0).size(), delivery.decoded.bytes == 0 ? 0u : 1u);
  }
}

}  // namespace
}  // namespace lastword::file
