// Runs itself as a child that meets kill points, and looks at how the child ended.
#include "base/kill_points.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <string>

namespace lastword {
namespace {

constexpr char kChild[] = "KillPointChild.DISABLED_MeetsOnePointThreeTimes";

// Ends with code 10 + hits of the point that it survived.
TEST(KillPointChild, DISABLED_MeetsOnePointThreeTimes) {
  if (getenv("LASTWORD_KILL_POINT_CHILD") == nullptr) return;
  LW_KILL_POINT("commit.after_ledger");
  LW_KILL_POINT("commit.after_visible");
  LW_KILL_POINT("commit.after_visible");
  LW_KILL_POINT("commit.after_visible");
  _exit(10);
}

// The wait status of a child with this setting; nullptr = not set. One that stops goes on.
int RunChild(const char* setting, int* stops = nullptr) {
  const pid_t pid = fork();
  if (pid == 0) {
    setenv("LASTWORD_KILL_POINT_CHILD", "1", 1);
    unsetenv("LASTWORD_KILL_POINT");
    if (setting != nullptr) setenv("LASTWORD_KILL_POINT", setting, 1);
    const std::string filter = std::string("--gtest_filter=") + kChild;
    execl("/proc/self/exe", "base_test", "--gtest_also_run_disabled_tests", filter.c_str(),
          static_cast<char*>(nullptr));
    _exit(99);
  }
  int status = 0;
  while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status)) {
    if (stops != nullptr) ++*stops;
    kill(pid, SIGCONT);
  }
  return status;
}

bool Killed(int status) {
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}
bool Survived(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == 10;
}

TEST(KillPoints, NothingHappensUnlessArmed) {
  EXPECT_TRUE(Survived(RunChild(nullptr)));
  EXPECT_TRUE(Survived(RunChild("commit.before_ledger")));
}

TEST(KillPoints, TheArmedPointEndsTheProcess) {
  EXPECT_TRUE(Killed(RunChild("commit.after_ledger")));
  EXPECT_TRUE(Killed(RunChild("commit.after_visible")));
}

TEST(KillPoints, AHitCanBeChosen) {
  EXPECT_TRUE(Killed(RunChild("commit.after_visible:3")));
  EXPECT_TRUE(Survived(RunChild("commit.after_visible:4")));
  EXPECT_TRUE(Killed(RunChild("commit.after_ledger:1")));
  EXPECT_TRUE(Survived(RunChild("commit.after_ledger:2")));
}

TEST(KillPoints, AStoppedProcessGoesOn) {
  int stops = 0;
  EXPECT_TRUE(Survived(RunChild("commit.after_visible:2:stop", &stops)));
  EXPECT_EQ(stops, 1);
  EXPECT_TRUE(Survived(RunChild("commit.before_ledger:stop", &stops)));
  EXPECT_EQ(stops, 1);
}

TEST(KillPoints, NamesAreUnique) {
  const std::set<std::string_view> names(std::begin(kKillPoints), std::end(kKillPoints));
  EXPECT_EQ(names.size(), std::size(kKillPoints));
  EXPECT_TRUE(IsKillPoint("commit.after_ledger"));
  EXPECT_FALSE(IsKillPoint("commit.after"));
}

}  // namespace
}  // namespace lastword
