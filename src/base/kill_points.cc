#include "base/kill_points.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace lastword {
namespace {

struct Armed {
  std::string name;
  uint64_t due = 1;  // the hit that kills, counted from 1
  int signal = SIGKILL;
};

Armed ReadArmed() {
  const char* setting = std::getenv("LASTWORD_KILL_POINT");
  Armed armed;
  if (setting == nullptr) return armed;
  armed.name = setting;
  constexpr std::string_view kStop = ":stop";
  if (armed.name.ends_with(kStop)) {
    armed.name.resize(armed.name.size() - kStop.size());
    armed.signal = SIGSTOP;
  }
  const size_t colon = armed.name.rfind(':');
  if (colon != std::string::npos) {
    std::from_chars(armed.name.data() + colon + 1, armed.name.data() + armed.name.size(),
                    armed.due);
    armed.name.resize(colon);
  }
  return armed;
}

}  // namespace

const bool kKillPointArmed = std::getenv("LASTWORD_KILL_POINT") != nullptr;

void HitKillPoint(std::string_view name) {
  static const Armed armed = ReadArmed();
  static std::atomic<uint64_t> hits{0};
  if (name != armed.name) return;
  if (hits.fetch_add(1) + 1 == armed.due) kill(getpid(), armed.signal);
}

}  // namespace lastword
