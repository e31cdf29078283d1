// SIGINT and SIGTERM as a wish to end: the running step is finished, what is applied is committed.
#pragma once

namespace lastword::cli {

/// Catches both signals from now on, each once: a second one ends the process at once.
void CatchStopSignals();

/// The signal that was caught; 0 = none.
int StopSignal();

}  // namespace lastword::cli
