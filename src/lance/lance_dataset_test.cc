// What holds of Lance alone, beyond the contract that its double shares: panics, disks that are
// full or damaged, races at the manifest, and the order in which files become durable.
#include "lance/lance_dataset.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <thread>

#include "base/format.h"
#include "base/random.h"
#include "lance/lance_error.h"
#include "test/status_matchers.h"

namespace lastword::lance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Schema& KeyAndText() {
  static const Schema kSchema{
      .columns = {{.name = "id", .type = {.kind = TypeKind::kInt64}, .nullable = false},
                  {.name = "text", .type = {.kind = TypeKind::kString}}},
      .key = {0},
      .nullable_key = {false}};
  return kSchema;
}

Rows RowsOf(int64_t first, int64_t count, std::string_view text = "text") {
  Rows rows(KeyAndText());
  for (int64_t id = first; id < first + count; ++id) {
    rows.columns[0].AppendFixed(id);
    rows.columns[1].AppendBytes(text);
  }
  return rows;
}

class LanceDatasetTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Dataset>> created = CreateDataset(x_uri, KeyAndText(), {}, x_options);
    ASSERT_THAT(created, IsOk());
    x_dataset = std::move(*created);
  }
  ~LanceDatasetTest() override { std::filesystem::remove_all(x_uri); }

  std::unique_ptr<Dataset> Open() {
    Result<std::unique_ptr<Dataset>> opened = OpenDataset(x_uri, x_options);
    EXPECT_THAT(opened, IsOk());
    return std::move(*opened);
  }
  static Result<CommitReceipt> Commit(Dataset& dataset, const Rows& rows,
                                      const std::vector<RowAddress>& deleted = {}) {
    return dataset.Commit({.expected_version = dataset.version(),
                           .new_rows = &rows,
                           .deleted = deleted,
                           .transaction_id = RandomId()});
  }
  static Status ScanAll(Dataset& dataset) {
    return dataset.Scan({}, [](const Rows&, auto) { return Ok{}; });
  }
  std::vector<std::filesystem::path> FilesIn(const char* folder) const {
    std::vector<std::filesystem::path> files;
    if (!std::filesystem::exists(x_uri + "/" + folder)) return files;
    for (const auto& entry : std::filesystem::directory_iterator(x_uri + "/" + folder)) {
      files.push_back(entry.path());
    }
    return files;
  }

  const std::string x_uri = testing::TempDir() + "lance_dataset_" + RandomId() + ".lance";
  DatasetOptions x_options{.fsync = false};
  std::unique_ptr<Dataset> x_dataset;
};

TEST(LanceErrorTest, APanicIsAnErrorLikeAnyOther) {
  const Status status = Check(lastword_lance_panic(), "test");
  ASSERT_THAT(status, IsError(ErrorKind::kInternal));
  EXPECT_THAT(status.error().message, HasSubstr("asked to panic"));
}

TEST_F(LanceDatasetTest, ErrorsNameNoPlaceInSomebodysSources) {
  const Status status = x_dataset->Checkout(99);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, testing::Not(HasSubstr(".rs")));
}

TEST_F(LanceDatasetTest, WhatTheUserNamedWrongIsTheUsersError) {
  EXPECT_THAT(OpenDataset("nosuch://bucket/table", {}), IsError(ErrorKind::kUnsupportedFormat));
  EXPECT_THAT(CreateDataset(x_uri + ".other", KeyAndText(), {}, {.storage_version = "99"}),
              IsError(ErrorKind::kUsage));
  Schema twice = KeyAndText();
  twice.columns[1].name = "id";
  EXPECT_THAT(CreateDataset(x_uri + ".other", twice, {}, {}), IsError(ErrorKind::kUsage));
  EXPECT_THAT(OpenDataset(x_uri + ".other", {}), IsOkAnd(testing::IsNull()));
}

TEST_F(LanceDatasetTest, TextThatIsNotUtf8IsRefusedBeforeItIsWritten) {
  EXPECT_THAT(Commit(*x_dataset, RowsOf(0, 1, "\xff\xfe")), IsError(ErrorKind::kInternal));
  EXPECT_EQ(Open()->version(), 1u);
  EXPECT_THAT(FilesIn("data"), testing::IsEmpty());
  EXPECT_THAT(Commit(*x_dataset, RowsOf(0, 1)), IsOk());
}

TEST_F(LanceDatasetTest, AFullDiskIsStorageFullAndTheNextCommitWorks) {
  ASSERT_THAT(Commit(*x_dataset, RowsOf(0, 10)), IsOk());
  // A limit on the size of files stands in for a disk without space.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  Random random(1);
  std::string noise;
  while (noise.size() < 100'000) noise += RandomId();
  const Result<CommitReceipt> refused = Commit(*x_dataset, RowsOf(10, 10, noise), {0});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(refused, IsError(ErrorKind::kStorageFull));
  EXPECT_EQ(Open()->version(), 2u);
  EXPECT_EQ(Open()->count_rows(), 10u);
  EXPECT_THAT(Commit(*x_dataset, RowsOf(10, 10, noise), {0}), IsOk());
  EXPECT_EQ(x_dataset->count_rows(), 19u);
}

TEST_F(LanceDatasetTest, DamagedAndMissingFilesAreCorruptAndNotACrash) {
  ASSERT_THAT(Commit(*x_dataset, RowsOf(0, 1000)), IsOk());
  const std::filesystem::path file = FilesIn("data").at(0);
  const uint64_t size = std::filesystem::file_size(file);
  std::filesystem::resize_file(file, size / 2);
  EXPECT_FALSE(ScanAll(*Open()).ok());
  std::filesystem::remove(file);
  EXPECT_THAT(ScanAll(*Open()), IsError(ErrorKind::kStorageCorrupt));
  EXPECT_THAT(Open()->Take(std::vector<RowAddress>{1}, {}), IsError(ErrorKind::kStorageCorrupt));
}

TEST_F(LanceDatasetTest, AConflictLeavesNoFilesBehind) {
  const std::unique_ptr<Dataset> other = Open();
  ASSERT_THAT(Commit(*x_dataset, RowsOf(0, 1)), IsOk());
  const size_t files = FilesIn("data").size() + FilesIn("_transactions").size();
  EXPECT_THAT(Commit(*other, RowsOf(0, 1)), IsError(ErrorKind::kCommitConflict));
  EXPECT_EQ(FilesIn("data").size() + FilesIn("_transactions").size(), files);
}

TEST_F(LanceDatasetTest, WhatWasBegunAndNotCommittedLeavesNoFilesBehind) {
  ASSERT_THAT(Commit(*x_dataset, RowsOf(0, 3)), IsOk());
  const std::unique_ptr<Dataset> other = Open();
  const Rows rows = RowsOf(10, 2);
  const std::vector<RowAddress> deleted = {1};
  const size_t files = FilesIn("data").size() + FilesIn("_deletions").size();
  ASSERT_THAT(x_dataset->BeginWrite(&rows, deleted), IsOk());
  EXPECT_EQ(FilesIn("data").size() + FilesIn("_deletions").size(), files) << "dropped";

  auto begun = x_dataset->BeginWrite(&rows, deleted);
  ASSERT_THAT(begun, IsOk());
  ASSERT_THAT(Commit(*other, {}, {0}), IsOk());
  EXPECT_THAT(x_dataset->CommitBegun(std::move(*begun), {.expected_version = 2}),
              IsError(ErrorKind::kCommitConflict));
  EXPECT_EQ(FilesIn("data").size() + FilesIn("_deletions").size(), files + 1) << "the other's";
}

TEST_F(LanceDatasetTest, RacingWritersNeverShareAVersion) {
  constexpr int kCommitsEach = 25;
  std::vector<std::thread> writers;
  std::atomic<int> conflicts = 0;
  for (int64_t writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      const std::unique_ptr<Dataset> dataset = Open();
      for (int done = 0; done < kCommitsEach;) {
        const Result<CommitReceipt> receipt = Commit(*dataset, RowsOf(writer * 1000 + done, 1));
        if (receipt.ok()) {
          ++done;
          continue;
        }
        ASSERT_THAT(receipt, IsError(ErrorKind::kCommitConflict));
        ++conflicts;
        ASSERT_THAT(dataset->Refresh(), IsOk());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  ASSERT_THAT(x_dataset->Refresh(), IsOk());
  EXPECT_EQ(x_dataset->version(), 1u + 3 * kCommitsEach);
  EXPECT_EQ(x_dataset->count_rows(), 3u * kCommitsEach);
  EXPECT_GT(conflicts, 0) << "nothing raced: the test shows nothing";
  // Lost attempts removed what they had written.
  EXPECT_EQ(FilesIn("data").size(), 3u * kCommitsEach);
}

TEST_F(LanceDatasetTest, LancesCleanupLeavesACommitsFilesAlone) {
  ASSERT_THAT(Commit(*x_dataset, RowsOf(0, 10)), IsOk());
  ASSERT_THAT(Commit(*x_dataset, RowsOf(10, 10), {1, 2}), IsOk());
  ASSERT_THAT(x_dataset->Compact({.fragments = {0, 1}}, 3, {}), IsOk());
  EXPECT_EQ(FilesIn("data").size(), 3u);
  ASSERT_THAT(x_dataset->Cleanup(4), IsOk());
  EXPECT_EQ(FilesIn("data").size(), 1u);
  EXPECT_THAT(FilesIn("_deletions"), testing::IsEmpty());
  EXPECT_THAT(ScanAll(*Open()), IsOk());
}

// --- Durability: this program runs again under strace, and the trace is read. ---

constexpr char kTracedUri[] = "LASTWORD_TRACED_URI";

TEST(TracedCommit, DISABLED_Once) {
  const char* uri = std::getenv(kTracedUri);
  ASSERT_NE(uri, nullptr);
  Result<std::unique_ptr<Dataset>> created = CreateDataset(uri, KeyAndText(), {}, {});
  ASSERT_THAT(created, IsOk());
  for (int64_t i = 0; i < 2; ++i) {
    const Rows rows = RowsOf(i * 10, 10);
    const std::vector<RowAddress> deleted =
        i == 0 ? std::vector<RowAddress>{} : std::vector<RowAddress>{3};
    const CommitRequest request{
        .expected_version = (*created)->version(), .new_rows = &rows, .deleted = deleted};
    if (i == 0) {
      ASSERT_THAT((*created)->Commit(request), IsOk());
      continue;
    }
    auto begun = (*created)->BeginWrite(&rows, deleted);
    ASSERT_THAT(begun, IsOk());
    ASSERT_THAT((*created)->CommitBegun(std::move(*begun), request), IsOk());
  }
}

TEST(DurabilityTest, FilesAndFoldersAreSyncedBeforeAManifestAppearsAndItsFolderAfter) {
  if (std::system("strace -o /dev/null true >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "strace is not there or may not trace";
  }
  const std::string folder = testing::TempDir() + "lance_trace_" + RandomId();
  const std::string uri = folder + "/table.lance";
  std::filesystem::create_directories(folder);
  ASSERT_EQ(setenv(kTracedUri, uri.c_str(), 1), 0);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string trace = folder + "/trace";
  const std::string command = Message(
      "strace -f -y -qq -e trace=fsync,fdatasync,link,linkat,rename,renameat,renameat2 -o {} {} "
      "--gtest_filter=TracedCommit.* --gtest_also_run_disabled_tests > {}/log 2>&1",
      trace, self, folder);
  ASSERT_EQ(std::system(command.c_str()), 0) << command;

  // Threads interleave: a call may be split into "<unfinished ...>" and "<... resumed>" lines. A
  // sync counts when it has ended, a link when it begins.
  const std::regex sync_begin(R"(^(\d+) .*f(?:data)?sync\(\d+<([^>]*)>(.*))");
  const std::regex sync_end(R"(^(\d+) .*<\.\.\. f(?:data)?sync resumed>.*= 0)");
  const std::regex link(R"(link(?:at)?\(.*\"[^\"]*/_versions/\d+\.manifest\")");
  std::ifstream lines(trace);
  std::map<std::string, std::string> begun;  // by thread
  std::set<std::string> synced;
  std::vector<std::set<std::string>> before;  // each manifest's
  std::vector<std::set<std::string>> after;
  const auto add = [&](const std::string& path) {
    synced.insert(path);
    if (!after.empty()) after.back().insert(path);
  };
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, sync_begin)) {
      if (match[3].str().find("= 0") != std::string::npos) {
        add(match[2]);
      } else {
        begun[match[1]] = match[2];
      }
    } else if (std::regex_search(line, match, sync_end)) {
      add(begun[match[1]]);
    } else if (std::regex_search(line, match, link)) {
      before.push_back(synced);
      after.emplace_back();
      synced.clear();
    }
  }
  ASSERT_EQ(before.size(), 3u) << "one manifest a version";
  const auto under = [&](const std::set<std::string>& paths, const std::string& prefix) {
    return std::count_if(paths.begin(), paths.end(), [&](const std::string& path) {
      return path.starts_with(uri + "/" + prefix);
    });
  };
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(before[i].contains(uri)) << i;
    EXPECT_TRUE(before[i].contains(uri + "/_transactions")) << i;
    EXPECT_EQ(under(before[i], "_transactions/"), 1) << i;
    EXPECT_EQ(under(before[i], "data/"), i == 0 ? 0 : 1) << i;
    EXPECT_EQ(before[i].contains(uri + "/data"), i != 0) << i;
    EXPECT_EQ(under(before[i], "_deletions/"), i == 2 ? 1 : 0) << i;
    EXPECT_EQ(before[i].contains(uri + "/_deletions"), i == 2) << i;
    EXPECT_EQ(under(before[i], "_versions/"), 1) << "the manifest's own bytes, " << i;
    EXPECT_TRUE(after[i].contains(uri + "/_versions")) << i;
  }
  EXPECT_TRUE(before[0].contains(folder)) << "the folder that names a new dataset";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lastword::lance
