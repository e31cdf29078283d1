// Places where a crash hurts, by name. A test starts the real program with
// LASTWORD_KILL_POINT=NAME or NAME:N, and the program ends itself with SIGKILL when it reaches that
// place (for the N-th time), as a power cut of the process would; with NAME:N:stop it stops itself
// with SIGSTOP, and goes on as a zombie when somebody lets it. Costs one predictable branch
// otherwise. Never compiled out: what is tested is what is shipped.
#pragma once

#include <string_view>

namespace lastword {

/// Every kill point of the program; the crash tests fire each of them.
inline constexpr std::string_view kKillPoints[] = {
    "create.after_ledger",        // a ledger without a table: taken over by the next start
    "schema.after_change",        // the table has new columns and no row with them
    "ledger.before_rollback",     // a ledger ahead of its pin is about to be put back
    "ledger.after_rollback",      // it was put back, under a new version that nothing pins
    "commit.after_dead_letters",  // dead letters are stored for a version that is not there yet
    "commit.before_ledger",       // nothing of the checkpoint is stored
    "commit.after_ledger",        // the ledger is ahead of every visible version: rolled back
    "commit.after_visible",       // committed, the caller does not know
    "commit.before_acknowledge",  // the source will resend a committed checkpoint
    "compact.before_commit",      // new fragments exist, no version names them
    "compact.after_ledger",       // a compacted ledger that no version pins: put back
    "compact.after_commit",       // addresses in memory are older than the table
    "cleanup.after_table",        // old versions are gone, what they pinned of the ledger is not
    "index.before_fill",          // the key index of a big table is empty, and unmarked
    "index.moving_over",          // it has left memory and is not in RocksDB
    "index.before_mark",          // it is complete, but nothing says of which state
    "files.before_rename",        // a temporary file is complete and not yet in place
};

constexpr bool IsKillPoint(std::string_view name) {
  for (const std::string_view known : kKillPoints) {
    if (known == name) return true;
  }
  return false;
}

/// True when LASTWORD_KILL_POINT is set; read once, when the program starts.
extern const bool kKillPointArmed;

/// Counts a hit of `name`; kills or stops the process when it is the armed one and due. Any
/// thread.
void HitKillPoint(std::string_view name);

}  // namespace lastword

/// Marks a kill point. The name is a literal out of kKillPoints.
#define LW_KILL_POINT(name)                                                \
  do {                                                                     \
    static_assert(::lastword::IsKillPoint(name), "add it to kKillPoints"); \
    if (::lastword::kKillPointArmed) [[unlikely]]                          \
      ::lastword::HitKillPoint(name);                                      \
  } while (false)
