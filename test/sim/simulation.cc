#include "sim/simulation.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "base/hash.h"
#include "commit/ledger.h"
#include "pipeline/apply_run.h"
#include "sim/scripted_source.h"
#include "test/double/double_storage.h"

namespace lastword::sim {
namespace {

constexpr uint64_t kProcessesMax = 40;
// One seed in so many has two source tables; which, does not depend on what else a seed draws.
constexpr uint64_t kSeveralSourcesOneIn = 4;
constexpr uint64_t kBehindLedgerOneIn = 3;

// What a process may stop with. Anything else is a defect.
bool IsExpected(ErrorKind kind) {
  return kind == ErrorKind::kCommitConflict || kind == ErrorKind::kCommitStateUnknown ||
         kind == ErrorKind::kStorageFull || kind == ErrorKind::kStorageUnavailable ||
         kind == ErrorKind::kPkOverlapInTransaction;
}

class Simulation {
 public:
  explicit Simulation(uint64_t seed)
      : x_random(seed),
        x_history(MakeHistory(x_random, seed % kSeveralSourcesOneIn == kSeveralSourcesOneIn - 1)),
        x_storage(x_store) {
    // Both datasets are in memory; lock and dead letters are files, in memory too where there is
    // such a folder: a sync costs nothing there.
    const std::filesystem::path in_memory = "/dev/shm";
    const std::filesystem::path parent = std::filesystem::is_directory(in_memory)
                                             ? in_memory
                                             : std::filesystem::temp_directory_path();
    std::string folder = (parent / "lastword-XXXXXX").string();
    if (mkdtemp(folder.data()) != nullptr) x_folder = folder;
    x_uri = x_folder + "/t.lance";
    x_fault_one_in = x_random.OneIn(4) ? 0 : 3 + x_random.Below(30);
    x_compacts = !x_random.OneIn(3);
    // Rounds of it go on beside commits, processes end in the middle of them.
    if (x_random.OneIn(2)) x_store.SetCompactionWaits(1 + x_random.Below(4));
    x_store.SetFaults([this](const StorageCall& call) { return FaultOf(call); });
  }

  ~Simulation() { std::filesystem::remove_all(x_folder); }

  SimResult Run() {
    for (size_t p = 0; p < x_history.partitions.size(); ++p) {
      for (const LogRecord& record : x_history.partitions[p]) {
        std::string line = History::NameOf(p) + " #" + std::to_string(record.sequence) +
                           (record.is_swap_delete ? " swap" : "") + (record.is_copy ? " copy" : "");
        for (const TestChange& change : record.changes) line += " " + ToText(change);
        Trace(std::move(line));
      }
    }
    for (uint64_t i = 0; i < kProcessesMax && x_result.failure.empty(); ++i) Process(false);
    x_faults_end = true;
    // Without faults, in the order of the log: two are enough, the second finds nothing to do.
    for (int i = 0; i < 2 && x_result.failure.empty(); ++i) Process(true);
    if (x_result.failure.empty()) CheckEnd();
    std::string all;
    for (const std::string& line : x_result.trace) all += line + "\n";
    x_result.trace_hash = Hash64(all);
    return std::move(x_result);
  }

 private:
  void Trace(std::string line) { x_result.trace.push_back(std::move(line)); }
  void Fail(const std::string& what) {
    Trace("FAILED " + what);
    if (x_result.failure.empty()) x_result.failure = what;
  }

  // Between the ledger's compaction and the version that pins it is a moment that few calls hit.
  bool FaultIsDue(const StorageCall& call) {
    if (x_faults_end || x_fault_one_in == 0) return false;
    const bool behind_ledger = x_ledger_compacted;
    x_ledger_compacted = call.kind == StorageCall::Kind::kCompact && call.uri == LedgerUri(x_uri);
    return x_random.OneIn(behind_ledger ? kBehindLedgerOneIn : x_fault_one_in);
  }

  Fault FaultOf(const StorageCall& call) {
    if (!FaultIsDue(call)) return Fault::kNone;
    static constexpr Fault kFaults[] = {
        Fault::kFailBefore,     Fault::kDiskFull,    Fault::kConflict,  Fault::kUnknownAndCommitted,
        Fault::kUnknownAndLost, Fault::kCrashBefore, Fault::kCrashAfter};
    const Fault fault = kFaults[x_random.Below(std::size(kFaults))];
    ++x_result.faults;
    Trace("fault " + std::to_string(static_cast<int>(fault)) + " at call " +
          std::to_string(static_cast<int>(call.kind)) + " of " +
          std::filesystem::path(call.uri).filename().string());
    return fault;
  }

  Result<Destination> Open() {
    TableConfig config;
    config.name = "t";
    config.sources = {"t"};
    config.primary_key = {"id"};
    config.columns = TestSchema(x_history.several_sources).columns;
    if (x_history.several_sources) {
      config.sources = {"a", "b"};
      config.primary_key = {"src", "id"};
    }
    config.on_conflict = OnConflict::kQuarantine;
    TableOptions options;
    options.compaction = x_compacts;
    options.compaction_fragments = 2;
    options.keep_versions = 3;
    options.keep_for = std::chrono::seconds(0);
    options.fsync = false;
    return Destination::Open(config, x_uri, options, x_storage);
  }

  // What other programs and people do between two processes.
  void Between() {
    if (x_store.crashed()) x_store.Reboot();
    auto there = x_store.Open(x_uri);
    if (!there.ok() || !*there) return;
    if (x_random.OneIn(5)) CompactByOthers();
    if (x_random.OneIn(6)) CollectGarbage();
  }

  void CompactByOthers() {
    auto there = x_store.Open(x_uri);
    if (!there.ok() || !*there) return;
    const Status compacted = x_store.ForeignCompact(x_uri);
    Trace(compacted.ok() ? "compacted by others" : "others failed to compact");
  }

  // The highest version below everything that some partition has still to deliver.
  std::optional<Version> ReplayBoundary(const TableImpl& table) const {
    std::optional<Version> boundary;
    for (size_t p = 0; p < x_history.partitions.size(); ++p) {
      const std::vector<LogRecord>& log = x_history.partitions[p];
      std::optional<Version> next;
      for (uint64_t i = CursorOf(table.PositionOf(History::NameOf(p))).high; i < log.size(); ++i) {
        for (const TestChange& change : log[i].changes) {
          if (change.flags & kNullValue) continue;
          if (!next || change.version < *next) next = change.version;
        }
      }
      if (!next) continue;
      if (!boundary || *next < *boundary) boundary = next;
    }
    if (!boundary || boundary->hi == 0) return std::nullopt;
    return Version{0, boundary->hi - 1, UINT64_MAX, UINT64_MAX};
  }

  void CollectGarbage() {
    CollectOnce();
    // Behind the table's end, which sees a round of compaction through and may die there.
    if (x_store.crashed()) x_store.Reboot();
  }

  void CollectOnce() {
    auto table = Open();
    if (!table.ok()) return Fail("gc cannot open: " + lastword::ToString(table.error()));
    const auto boundary = ReplayBoundary(table->table());
    if (!boundary) return;
    const auto collected = table->table().CollectTombstones(boundary);
    Trace("gc at " + lastword::ToString(*boundary) + (collected.ok() ? "" : " failed"));
    if (!collected.ok() && !IsExpected(collected.error().kind)) {
      Fail("gc: " + lastword::ToString(collected.error()));
    }
  }

  std::vector<uint64_t> CountsOf(const TableImpl& table) const {
    std::vector<uint64_t> counts;
    for (size_t p = 0; p < x_history.partitions.size(); ++p) {
      counts.push_back(CursorOf(table.PositionOf(History::NameOf(p))).high);
    }
    return counts;
  }

  // Rows and positions of one version must agree.
  void Check(TableImpl& table) {
    const std::vector<uint64_t> counts = CountsOf(table);
    Table rows;
    bool doubled = false;
    if (table.count_rows() != 0) {
      const Status scanned = table.Scan(
          [&](const Rows& found, const Schema& schema) {
            for (uint64_t i = 0; i < found.size(); ++i) {
              const auto text = [&](const char* name) {
                const ColumnData& column = found.columns[*schema.Find(name)];
                return column.IsNull(i) ? std::string("NULL") : std::string(column.Bytes(i));
              };
              const int64_t id = found.columns[*schema.Find("id")].Fixed<int64_t>(i);
              doubled |= !rows.emplace(id, Row{text("a"), text("b")}).second;
            }
            return true;
          },
          {});
      if (!scanned.ok()) return Fail("scan: " + lastword::ToString(scanned.error()));
    }
    std::string at;
    for (const uint64_t count : counts) at += std::to_string(count) + " ";
    if (doubled) return Fail("a key is there twice, at positions " + at);
    const Table wanted = x_history.TableAt(counts);
    if (rows != wanted) {
      return Fail("at positions " + at + "the table is " + TextOf(rows) + "and not " +
                  TextOf(wanted));
    }
    for (const std::string& id : x_known_ids) {
      const auto known = table.KnowsCheckpoint(id);
      if (!known.ok() || !*known) return Fail("checkpoint id " + id + " is forgotten");
    }
    Trace("table at " + at + ": " + TextOf(rows));
  }

  static std::string TextOf(const Table& table) {
    std::string text;
    for (const auto& [key, row] : table) {
      text += std::to_string(key) + "=" + row.first + "," + row.second + " ";
    }
    return text;
  }

  void Process(bool last) {
    Between();
    if (!x_result.failure.empty()) return;
    ++x_result.processes;
    auto opened = Open();
    if (!opened.ok()) return Fail("cannot open: " + lastword::ToString(opened.error()));
    Check(opened->table());
    if (!x_result.failure.empty()) return;

    ScriptedSource::Options script;
    script.in_order = last;
    ApplyOptions options;
    if (!last) {
      script.rewinds_one_in = 3;
      if (x_random.OneIn(3)) script.deliveries_max = x_random.Below(12);
      options.checkpoint_every = 1 + x_random.Below(12);
      if (x_random.OneIn(4)) {
        options.checkpoint_every.reset();
        script.deliveries_max = 1 + x_random.Below(6);
        options.checkpoint_id = x_known_ids.empty() || !x_random.OneIn(4)
                                    ? "id-" + std::to_string(x_result.processes)
                                    : x_known_ids[x_random.Below(x_known_ids.size())];
      }
    }
    options.on_outcomes = [this](const TableConfig&, const ChangeBatch& batch,
                                 const std::vector<Outcome>& outcomes) {
      std::string line = batch.inputs.empty() ? "" : batch.inputs[0];
      for (const Outcome outcome : outcomes) line += " " + std::string(NameOf(outcome));
      Trace(std::move(line));
    };
    options.on_note = [this](const std::string& note) {
      Trace(note);
      // Maintenance that fails leaves the run alone, so it is looked at here.
      if (note.starts_with("not compacted: internal")) Fail(note);
    };
    const uint64_t steps_max = last || x_random.OneIn(2) ? UINT64_MAX : 1 + x_random.Below(20);
    ScriptedSource source(x_history, x_random, script);
    std::vector<Destination> destinations;
    destinations.push_back(std::move(*opened));
    ApplyRun run(source, std::move(destinations), options);
    RunSteps(run, steps_max, options.checkpoint_id, last);
  }

  void RunSteps(ApplyRun& run, uint64_t steps_max, const std::string& id, bool last) {
    Status ended = run.Start();
    for (uint64_t step = 0; ended.ok() && step < steps_max; ++step) {
      if (!x_faults_end && x_random.OneIn(15)) CompactByOthers();
      const Result<bool> more = run.Step();
      if (!more.ok()) ended = more.error();
      if (!more.ok() || *more) continue;
      x_result.commits += run.results()[0].commits;
      if (!id.empty()) x_known_ids.push_back(id);
      Trace("process ended");
      return;
    }
    x_result.commits += run.results()[0].commits;
    if (ended.ok()) {
      Trace("process stopped");  // As if killed between two steps.
      return;
    }
    Trace("process ended with " + std::string(NameOf(ended.error().kind)));
    if (last || (!x_store.crashed() && !IsExpected(ended.error().kind))) {
      Fail("a process ended with " + lastword::ToString(ended.error()));
    }
  }

  // What lies in the dead letter are conflicting copies, each at most once.
  void CheckLetters(TableImpl& table) {
    const auto letters = table.DeadLetters();
    if (!letters.ok()) return Fail("no dead letters: " + lastword::ToString(letters.error()));
    std::set<std::pair<std::string, uint64_t>> seen;
    for (const DeadLetter& letter : *letters) {
      const Place& place = letter.error.place;
      if (!seen.emplace(place.input, place.offset.value_or(UINT64_MAX)).second) {
        return Fail("twice in the dead letter: " + lastword::ToString(letter.error));
      }
    }
    if (letters->size() > x_history.copies()) return Fail("a letter that is no conflict");
  }

  void CheckEnd() {
    auto opened = Open();
    if (!opened.ok()) return Fail("cannot open: " + lastword::ToString(opened.error()));
    Check(opened->table());
    const std::vector<uint64_t> counts = CountsOf(opened->table());
    for (size_t p = 0; p < counts.size(); ++p) {
      if (counts[p] != x_history.partitions[p].size()) return Fail("not all was applied");
    }
    if (x_history.records() == 0) return;
    const auto status = opened->table().GetStatus();
    if (!status.ok()) return Fail("no status: " + lastword::ToString(status.error()));
    if (status->waiting_changes != 0) return Fail("a change waits though all is there");
    if (status->kept_rows != 0) return Fail("a row is kept though all is there");
    CheckLetters(opened->table());
  }

  std::string x_folder, x_uri;
  Random x_random;
  History x_history;
  MemoryStore x_store;
  DoubleStorage x_storage;
  SimResult x_result;
  std::vector<std::string> x_known_ids;
  uint64_t x_fault_one_in = 0;
  bool x_faults_end = false;
  bool x_ledger_compacted = false;  // by the last call
  bool x_compacts = false;          // our own compaction runs, of any two fragments
};

}  // namespace

SimResult Simulate(uint64_t seed) {
  return Simulation(seed).Run();
}

std::string SaveReplay(uint64_t seed, const SimResult& result) {
  const std::string name = "sim-failure-" + std::to_string(seed) + ".txt";
  std::ofstream out(name);
  out << "seed " << seed << "\nfailure " << result.failure << "\n";
  for (const std::string& line : result.trace) out << line << "\n";
  return name;
}

}  // namespace lastword::sim
