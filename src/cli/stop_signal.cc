#include "cli/stop_signal.h"

#include <csignal>

namespace lastword::cli {
namespace {

volatile std::sig_atomic_t g_signal = 0;

void Note(int signal) {
  g_signal = signal;
}

}  // namespace

void CatchStopSignals() {
  struct sigaction action {};
  action.sa_handler = Note;
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int StopSignal() {
  return g_signal;
}

}  // namespace lastword::cli
