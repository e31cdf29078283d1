// The step loop over real files, real decoders and a storage in memory: what is committed, where a
// run stops, what the next one does.
#include "pipeline/apply_run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "commit/table_impl.h"
#include "model/row_text.h"
#include "model/value_rows.h"
#include "pipeline/dead_letter_source.h"
#include "source/file/file_source.h"
#include "test/double/memory_dataset.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

class MemoryStorage : public Storage {
 public:
  Result<std::unique_ptr<Dataset>> OpenDataset(const std::string& uri) override {
    return store.Open(uri);
  }
  Result<std::unique_ptr<Dataset>> CreateDataset(const std::string& uri, const Schema& schema,
                                                 const Properties& properties) override {
    return store.Create(uri, schema, properties);
  }
  MemoryStore store;
};

std::string Sequenced(int seq, const std::string& key, const std::string& rest) {
  return "{\"seq\":" + std::to_string(seq) + ",\"key\":\"" + key + "\"," + rest + "}\n";
}
std::string Upsert(int seq, const std::string& key, int value) {
  return Sequenced(seq, key, "\"op\":\"upsert\",\"value\":" + std::to_string(value));
}
std::string Delete(int seq, const std::string& key) {
  return Sequenced(seq, key, "\"op\":\"delete\"");
}
// A Debezium event of `table`, at commit position 10 * lsn.
std::string Event(const std::string& table, int id, const std::string& v, int lsn) {
  const std::string number = std::to_string(lsn);
  return R"({"before":null,"after":{"id":)" + std::to_string(id) + R"(,"v":)" + v +
         R"(},"source":{"connector":"postgresql","snapshot":"false","sequence":"[\")" + number +
         R"(\",\")" + number + R"(\"]","schema":"public","table":")" + table + R"(","lsn":)" +
         number + R"(},"op":"u"})" + "\n";
}

class ApplyRunTest : public testing::Test {
 protected:
  ApplyRunTest() {
    std::string name = (std::filesystem::temp_directory_path() / "lastword-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    x_folder = name;
    x_path = name + "/events.ndjson";
    TableConfig table;
    table.name = "t";
    table.primary_key = {"key"};
    x_tables = {table};
  }
  ~ApplyRunTest() override { std::filesystem::remove_all(x_folder); }

  void Write(const std::string& text) { std::ofstream(x_path, std::ios::binary) << text; }

  std::string UriOf(const TableConfig& table) const {
    return x_folder + "/" + table.name + ".lance";
  }

  // One process: opens the tables, applies the file, ends. Returns the error it stopped with.
  std::optional<Error> Apply(ApplyOptions options = {}, bool from_start = false) {
    file::FileSource source({{x_path}, from_start}, codec::MakeDecoder(x_format, {}));
    std::vector<Destination> destinations = Open();
    return RunToEnd(source, std::move(destinations), std::move(options));
  }

  // The same with what the tables have put aside.
  std::optional<Error> ApplyLetters() {
    std::vector<Destination> destinations = Open();
    DeadLetterSource source(*destinations[0].table().DeadLetters(),
                            codec::MakeDecoder(x_format, {}));
    EXPECT_THAT(destinations[0].table().TakeDeadLetters(), IsOk());
    ApplyOptions options;
    options.all_or_nothing = true;
    return RunToEnd(source, std::move(destinations), options);
  }

  std::vector<DeadLetter> Letters() { return *Open()[0].table().DeadLetters(); }

  std::vector<Destination> Open() {
    std::vector<Destination> destinations;
    for (const TableConfig& table : x_tables) {
      auto opened = Destination::Open(table, UriOf(table), {}, x_storage);
      EXPECT_THAT(opened, IsOk());
      if (opened.ok()) destinations.push_back(std::move(*opened));
    }
    return destinations;
  }

  std::optional<Error> RunToEnd(Source& source, std::vector<Destination> destinations,
                                ApplyOptions options) {
    options.on_outcomes = [this](const TableConfig& table, const ChangeBatch&,
                                 const std::vector<Outcome>& outcomes) {
      for (const Outcome outcome : outcomes) {
        x_outcomes += table.name + ":" + std::string(NameOf(outcome)) + " ";
      }
    };
    x_outcomes.clear();
    ApplyRun run(source, std::move(destinations), options);
    if (const Status started = run.Start(); !started.ok()) return started.error();
    while (true) {
      const auto more = run.Step();
      x_results = run.results();
      if (!more.ok()) return more.error();
      if (!*more) return std::nullopt;
    }
  }

  // The rows of a table as sorted JSON lines.
  std::string Rows(size_t table = 0) {
    TableOptions options;
    options.read_only = true;
    auto opened = TableImpl::Open(UriOf(x_tables[table]), options, x_storage);
    EXPECT_THAT(opened, IsOk());
    std::vector<std::string> lines;
    const Status scanned = (*opened)->Scan(
        [&](const lastword::Rows& rows, const Schema& schema) {
          for (uint64_t i = 0; i < rows.size(); ++i) {
            lines.push_back(RowToJson(schema, ReadRow(schema, rows, i)));
          }
          return true;
        },
        {});
    if (!scanned.ok()) return "no table";
    std::sort(lines.begin(), lines.end());
    std::string all;
    for (const std::string& line : lines) all += line;
    return all;
  }

  uint64_t Version(size_t table = 0) {
    auto dataset = x_storage.store.Open(UriOf(x_tables[table]));
    return dataset.ok() && *dataset != nullptr ? (*dataset)->version() : 0;
  }

  MemoryStorage x_storage;
  std::string x_folder, x_path, x_outcomes;
  std::vector<TableConfig> x_tables;
  std::vector<TableResult> x_results;
  codec::Format x_format = codec::Format::kSequenced;
};

TEST_F(ApplyRunTest, AppliesAFileAndCommitsOnce) {
  Write(Upsert(1, "a", 10) + Delete(3, "a") + Upsert(2, "a", 20) + Upsert(1, "b", 7));
  EXPECT_FALSE(Apply());
  EXPECT_EQ(x_outcomes, "t:applied t:applied t:stale t:applied ");
  EXPECT_EQ(Rows(), R"({"key":"b","value":7})");
  EXPECT_EQ(x_results[0].commits, 1u);
}

TEST_F(ApplyRunTest, ChangesNothingWhenAllIsApplied) {
  Write(Upsert(1, "a", 10));
  EXPECT_FALSE(Apply());
  const uint64_t version = Version();
  EXPECT_FALSE(Apply());
  EXPECT_EQ(x_outcomes, "");
  EXPECT_EQ(Version(), version);
  EXPECT_FALSE(Apply({}, /*from_start=*/true));
  EXPECT_EQ(x_outcomes, "t:repeat ");
  EXPECT_EQ(Rows(), R"({"key":"a","value":10})");
}

TEST_F(ApplyRunTest, GivesOneTableForEveryCheckpointInterval) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    const std::string key = std::to_string(i % 7);
    text += i % 5 == 4 ? Delete(i, key) : Upsert(i, key, i);
  }
  Write(text);
  EXPECT_FALSE(Apply());
  const std::string expected = Rows();
  for (const uint64_t every : {1, 2, 3, 39, 40, 100}) {
    x_storage.store.Drop(UriOf(x_tables[0]));
    std::filesystem::remove_all(UriOf(x_tables[0]) + ".lastword");
    x_storage.store.Drop(UriOf(x_tables[0]) + ".lastword/ledger.lance");
    ApplyOptions options;
    options.checkpoint_every = every;
    EXPECT_FALSE(Apply(options));
    EXPECT_EQ(Rows(), expected) << every;
    EXPECT_EQ(x_results[0].commits, (40 + every - 1) / every) << every;
  }
}

TEST_F(ApplyRunTest, StopsAtABadRecordAndAgain) {
  Write(Upsert(1, "a", 10) + "{\"seq\":2,\"key\":\"b\",\"op\":\"explode\"}\n" + Upsert(3, "c", 1));
  for (int run = 0; run < 2; ++run) {
    const uint64_t version = Version();
    const auto error = Apply();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind, ErrorKind::kInvalidOperation);
    EXPECT_EQ(error->place.input, x_path);
    EXPECT_EQ(error->place.line, 2u);
    EXPECT_EQ(Rows(), R"({"key":"a","value":10})");
    if (run == 1) {
      EXPECT_EQ(Version(), version);
    }
  }
}

TEST_F(ApplyRunTest, StopsAtAConflictInTheMiddleOfAChunk) {
  Write(Upsert(1, "a", 10) + Upsert(1, "a", 11) + Upsert(1, "b", 5));
  for (int run = 0; run < 2; ++run) {
    const auto error = Apply();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind, ErrorKind::kVersionConflict);
    EXPECT_EQ(error->place.line, 2u);
    EXPECT_EQ(error->place.table, "t");
    EXPECT_EQ(Rows(), R"({"key":"a","value":10})");
  }
  EXPECT_EQ(x_outcomes, "t:conflict ");
}

TEST_F(ApplyRunTest, KnowsItsCheckpointId) {
  x_format = codec::Format::kChangelog;
  Write(R"({"kind":"+I","row":{"key":"a","value":1}})"
        "\n");
  ApplyOptions options;
  options.checkpoint_id = "cp-1";
  EXPECT_FALSE(Apply(options));
  const uint64_t version = Version();
  Write(R"({"kind":"-D","row":{"key":"a","value":1}})"
        "\n");
  EXPECT_FALSE(Apply(options));
  EXPECT_TRUE(x_results[0].already_committed);
  EXPECT_EQ(Version(), version);
  EXPECT_EQ(Rows(), R"({"key":"a","value":1})");
}

TEST_F(ApplyRunTest, NeverCutsAnUpdateInTwo) {
  x_format = codec::Format::kChangelog;
  Write(R"({"kind":"+I","row":{"key":"a","value":1}})"
        "\n"
        R"({"kind":"-U","row":{"key":"a","value":1}})"
        "\n"
        R"({"kind":"+U","row":{"key":"a","value":2}})"
        "\n");
  ApplyOptions options;
  options.checkpoint_every = 1;
  EXPECT_FALSE(Apply(options));
  EXPECT_EQ(x_results[0].commits, 2u);
  EXPECT_EQ(Rows(), R"({"key":"a","value":2})");
}

TEST_F(ApplyRunTest, PutsBadRecordsAsideAndKeepsTheOrderOfTheirKey) {
  x_tables[0].on_bad_record = OnBadRecord::kDeadLetter;
  const std::string bad = "{\"seq\":2,\"key\":\"a\",\"op\":\"upsert\",\"value\":\"text\"}\n";
  const std::string broken = "{\"seq\":3,\"key\":\n";
  Write(Upsert(1, "a", 10) + bad + broken + Upsert(4, "a", 40) + Upsert(1, "b", 1));
  EXPECT_FALSE(Apply());
  EXPECT_EQ(Rows(), R"({"key":"a","value":40}{"key":"b","value":1})");
  const auto letters = Letters();
  ASSERT_EQ(letters.size(), 2u);
  EXPECT_EQ(letters[0].record + "\n", bad);
  EXPECT_EQ(letters[0].error.kind, ErrorKind::kTypeMismatch);
  EXPECT_EQ(letters[0].error.place.line, 2u);
  EXPECT_EQ(letters[1].record + "\n", broken);
  EXPECT_EQ(letters[1].error.kind, ErrorKind::kBadJson);
  // Nothing is put aside twice.
  EXPECT_FALSE(Apply());
  EXPECT_EQ(Letters().size(), 2u);
}

TEST_F(ApplyRunTest, PutsAsideWhatHasNoBase) {
  x_format = codec::Format::kDebezium;
  x_tables[0].primary_key = {"id"};
  x_tables[0].on_bad_record = OnBadRecord::kDeadLetter;
  const std::string unavailable = Event("t", 1, "\"__debezium_unavailable_value\"", 10);
  Write(Event("t", 2, "\"x\"", 9) + unavailable + Event("t", 3, "\"y\"", 11));
  EXPECT_FALSE(Apply());
  EXPECT_EQ(Rows(), R"({"id":2,"v":"x"}{"id":3,"v":"y"})");
  const auto letters = Letters();
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].record + "\n", unavailable);
  EXPECT_EQ(letters[0].error.kind, ErrorKind::kUnavailableWithoutBase);
}

TEST_F(ApplyRunTest, AppliesDeadLettersAgainInOneCommit) {
  x_tables[0].on_bad_record = OnBadRecord::kDeadLetter;
  Column key, value;
  key.name = "key";
  value.name = "value";
  value.type.kind = TypeKind::kInt8;
  x_tables[0].columns = {key, value};
  Write(Upsert(1, "a", 1) + Upsert(2, "a", 300) + Upsert(1, "b", 400) +
        Sequenced(1, "c", R"("op":"upsert","value":"text")"));
  EXPECT_FALSE(Apply());
  EXPECT_EQ(Letters().size(), 3u);
  x_tables[0].columns[1].type.kind = TypeKind::kInt16;
  x_tables[0].type_widening = true;
  EXPECT_FALSE(ApplyLetters());
  EXPECT_EQ(Rows(), R"({"key":"a","value":300}{"key":"b","value":400})");
  ASSERT_EQ(Letters().size(), 1u);
  EXPECT_EQ(Letters()[0].error.place.key, "c");
}

TEST_F(ApplyRunTest, NotesNoPositionInAFileOfWhichNothingIsApplied) {
  Write(Upsert(1, "a", 10));
  EXPECT_FALSE(Apply());
  const uint64_t version = Version();
  x_path = x_folder + "/bad.ndjson";
  Write("no json\n");
  EXPECT_TRUE(Apply());
  EXPECT_EQ(Version(), version);
}

TEST_F(ApplyRunTest, CreatesNothingWithoutAChange) {
  Write("");
  EXPECT_FALSE(Apply());
  EXPECT_EQ(Rows(), "no table");
}

TEST_F(ApplyRunTest, LeavesEveryTableInFrontOfTheRecordThatFails) {
  x_format = codec::Format::kDebezium;
  TableConfig one, two;
  one.name = "one";
  two.name = "two";
  one.sources = {"one"};
  two.sources = {"two"};
  one.primary_key = two.primary_key = {"id"};
  x_tables = {one, two};
  // The second change of table one at lsn 10 is a conflict; those behind it are not applied.
  Write(Event("one", 1, "\"a\"", 10) + Event("two", 1, "\"x\"", 11) + Event("one", 1, "\"b\"", 10) +
        Event("two", 2, "\"y\"", 12));
  for (int run = 0; run < 2; ++run) {
    const auto error = Apply();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind, ErrorKind::kVersionConflict);
    EXPECT_EQ(error->place.line, 3u);
    EXPECT_EQ(Rows(0), R"({"id":1,"v":"a"})");
    EXPECT_EQ(Rows(1), R"({"id":1,"v":"x"})");
  }
}

TEST_F(ApplyRunTest, DeliversToATableOnlyWhatItLacks) {
  x_format = codec::Format::kDebezium;
  TableConfig one, two;
  one.name = "one";
  two.name = "two";
  one.sources = {"one"};
  two.sources = {"two"};
  one.primary_key = two.primary_key = {"id"};
  x_tables = {one, two};
  Write(Event("one", 1, "\"a\"", 10) + Event("two", 1, "\"x\"", 11));
  // The commit of table two is lost: table one is ahead when the next run starts. Each table takes
  // two calls to create and one to commit its rows.
  x_storage.store.SetFaults([](const StorageCall& call) {
    const bool of_two = call.uri.find("two.lance") != std::string::npos;
    return of_two ? Fault::kFailBefore : Fault::kNone;
  });
  EXPECT_TRUE(Apply());
  x_storage.store.SetFaults({});
  EXPECT_FALSE(Apply());
  EXPECT_EQ(x_outcomes, "two:applied ");
  EXPECT_EQ(Rows(0) + Rows(1), R"({"id":1,"v":"a"}{"id":1,"v":"x"})");
}

TEST_F(ApplyRunTest, PutsChangesIntoTheirEpoch) {
  x_format = codec::Format::kRecords;
  x_tables[0].primary_key = {"id"};
  const auto record = [](int offset, const std::string& v, int lsn) {
    std::string event = Event("t", 1, v, lsn);
    event.pop_back();
    return R"({"key":{"id":1},"value":)" + event + R"(,"partition":0,"offset":)" +
           std::to_string(offset) + "}\n";
  };
  Write(record(0, "\"before\"", 5000) + record(1, "\"after\"", 300));
  ApplyOptions options;
  options.epochs = {{0, 1, 1}};
  EXPECT_FALSE(Apply(options));
  EXPECT_EQ(Rows(), R"({"id":1,"v":"after"})");
}

// A table that is ahead of the others has the bad records of that stretch put aside already.
TEST_F(ApplyRunTest, PutsABadRecordAsideOnce) {
  x_format = codec::Format::kDebezium;
  TableConfig one, two;
  one.name = "one";
  two.name = "two";
  for (TableConfig* table : {&one, &two}) {
    Column id, v;
    id.name = "id";
    id.type.kind = TypeKind::kInt64;
    v.name = "v";
    v.type.kind = TypeKind::kInt64;
    table->sources = {table->name};
    table->primary_key = {"id"};
    table->columns = {id, v};
    table->on_bad_record = OnBadRecord::kDeadLetter;
  }
  x_tables = {one, two};
  Write(Event("one", 1, "1", 10) + Event("one", 2, "\"bad\"", 11) + Event("two", 1, "1", 12) +
        Event("one", 3, "3", 13));
  x_storage.store.SetFaults([](const StorageCall& call) {
    const bool of_two = call.uri.find("two.lance") != std::string::npos;
    return of_two ? Fault::kFailBefore : Fault::kNone;
  });
  EXPECT_TRUE(Apply());
  x_storage.store.SetFaults({});
  EXPECT_EQ(Letters().size(), 1u);
  EXPECT_FALSE(Apply());
  EXPECT_EQ(Letters().size(), 1u);
  EXPECT_EQ(Rows(0) + Rows(1), R"({"id":1,"v":1}{"id":3,"v":3}{"id":1,"v":1})");
}

TEST_F(ApplyRunTest, FollowsAGrowingSchemaInOneChunk) {
  x_format = codec::Format::kDebezium;
  x_tables[0].primary_key = {"id"};
  Write(Event("t", 1, "null", 10) + Event("t", 2, "\"x\"", 11));
  EXPECT_FALSE(Apply());
  EXPECT_EQ(Rows(), R"({"id":1,"v":null}{"id":2,"v":"x"})");
}

}  // namespace
}  // namespace lastword
