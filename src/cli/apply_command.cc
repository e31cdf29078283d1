// `lastword apply`: files of changes into tables, in this process, without a server.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <thread>

#include "base/format.h"
#include "cli/allocator.h"
#include "cli/apply_arguments.h"
#include "cli/apply_report.h"
#include "cli/command.h"
#include "cli/option_checks.h"
#include "cli/outcomes_file.h"
#include "cli/progress.h"
#include "cli/stop_signal.h"
#include "commit/lance_storage.h"
#include "commit/memory_shares.h"
#include "pipeline/apply_run.h"
#include "pipeline/dead_letter_source.h"
#include "source/file/file_source.h"

namespace lastword::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSignalExitCode = 128;  // plus the signal, as shells have it
constexpr int kStrictExitCode = 3;    // as a run that stopped at a record

// How often a run opens its tables anew, after another writer has committed to one of them.
constexpr int kReopensMax = 5;

void SayNote(const std::string& note) {
  std::cerr << "lastword: " << note << std::endl;
}

// What the members of a first line are those of, and how such a file is read; empty: of nothing
// but the default.
std::string_view OtherFormat(const std::string& path) {
  // A pipe cannot be read again.
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  auto stream = file::OpenByteStream(path);
  if (!stream.ok()) return {};
  file::LineReader reader(std::move(*stream), 1 << 16);
  const auto lines = reader.Peek(1);
  if (!lines.ok()) return {};
  const auto has = [&](std::string_view name) {
    return lines->bytes.find(name) != std::string_view::npos;
  };
  if (has("\"partition\"") && has("\"offset\"") && (has("\"value\"") || has("\"payload\""))) {
    return "a dump of Kafka records: read it with --format records";
  }
  if (has("\"seq\"") && has("\"op\"")) {
    return "sequenced changes: read it with --format sequenced";
  }
  if (has("\"kind\"") && has("\"row\"")) return "a changelog: read it with --format changelog";
  return {};
}

Error WithHint(Error error, const ApplyPlan& plan) {
  const bool of_format =
      error.kind == ErrorKind::kBadEnvelope || error.kind == ErrorKind::kUnsupportedOp;
  if (plan.format_given || !of_format) return error;
  if (const std::string_view other = OtherFormat(error.place.input); !other.empty()) {
    error.message += Message("; the file looks like {}", other);
  }
  return error;
}

Result<std::vector<Destination>> OpenDestinations(const ApplyPlan& plan, Storage& storage) {
  const TableOptions options = TableOptionsOf(plan.pipeline);
  std::vector<Destination> destinations;
  for (const PlannedTable& table : plan.tables) {
    LW_ASSIGN_OR_RETURN(Destination destination,
                        Destination::Open(table.config, table.uri, options, storage));
    destinations.push_back(std::move(destination));
  }
  return destinations;
}

// Files, or what the tables have put aside.
Result<std::unique_ptr<Source>> MakeSource(const ApplyArguments& arguments, const ApplyPlan& plan,
                                           const std::vector<Destination>& destinations) {
  auto decoder = codec::MakeDecoder(plan.format, {});
  if (!arguments.dead_letter) {
    file::FileSourceOptions options{plan.pipeline.source.paths, arguments.from_start};
    options.ahead_bytes_max = SharesOf(plan.pipeline.memory_bytes).ahead;
    const uint64_t threads =
        plan.pipeline.source.decoders.value_or(std::thread::hardware_concurrency());
    std::vector<std::unique_ptr<codec::Decoder>> ahead;
    while (threads > 1 && ahead.size() < threads) {
      ahead.push_back(codec::MakeDecoder(plan.format, {}));
    }
    return std::unique_ptr<Source>(std::make_unique<file::FileSource>(
        std::move(options), std::move(decoder), std::move(ahead)));
  }
  std::vector<DeadLetter> letters;
  for (const Destination& destination : destinations) {
    LW_ASSIGN_OR_RETURN(std::vector<DeadLetter> of_table, destination.table().DeadLetters());
    if (of_table.empty()) continue;
    LW_RETURN_IF_ERROR(destination.table().TakeDeadLetters());
    std::move(of_table.begin(), of_table.end(), std::back_inserter(letters));
  }
  return std::unique_ptr<Source>(
      std::make_unique<DeadLetterSource>(std::move(letters), std::move(decoder)));
}

ApplyOptions OptionsOf(const ApplyArguments& arguments, const ApplyPlan& plan) {
  ApplyOptions options;
  options.checkpoint_every = arguments.checkpoint_every ? arguments.checkpoint_every
                                                        : plan.pipeline.checkpoint.max_changes;
  if (!arguments.checkpoint_id.empty()) options.checkpoint_every.reset();
  options.pending_bytes_max =
      std::min(plan.pipeline.checkpoint.max_bytes, SharesOf(plan.pipeline.memory_bytes).pending);
  options.checkpoint_id = arguments.checkpoint_id;
  options.all_or_nothing = arguments.dead_letter;
  options.epochs = plan.pipeline.source.epochs;
  return options;
}

// Steps until the end, an error, or a signal; the answer is the exit code.
CommandResult StepToEnd(ApplyRun& run, const Source& source, ProgressBar& bar) {
  LW_RETURN_IF_ERROR(run.Start());
  while (true) {
    LW_ASSIGN_OR_RETURN(const bool more, run.Step());
    if (!more) return 0;
    bar.Show(source.GetProgress(), run.changes());
    if (const int signal = StopSignal(); signal != 0) {
      LW_RETURN_IF_ERROR(run.CommitEarly());
      return kSignalExitCode + signal;
    }
  }
}

// Prints the counts; the answer is the exit code under --strict.
CommandResult Report(const ApplyRun& run, const ApplyArguments& arguments, double seconds,
                     bool failed) {
  LW_ASSIGN_OR_RETURN(const ApplyReport report, MakeApplyReport(run, seconds));
  bool clean = true;
  for (const TableReport& table : report.tables) {
    clean = clean && table.quarantined_keys == 0 && table.dead_letters == 0;
    if (!arguments.json) std::cout << ReportLine(table, report) << '\n';
  }
  // After an error its object is the last line instead.
  if (arguments.json && !failed) std::cout << ReportJson(report) << '\n';
  std::cout << std::flush;
  return clean ? 0 : kStrictExitCode;
}

// True when an error says that another writer committed, and the input can be read once more: what
// it committed is then built upon.
bool MayReopen(const Error& error, const ApplyPlan& plan) {
  const std::vector<std::string>& paths = plan.pipeline.source.paths;
  return ClassOf(error.kind) == ErrorClass::kReread &&
         std::find(paths.begin(), paths.end(), "-") == paths.end();
}

// One run from opening the tables to the report; empty where they are to be opened again.
Result<std::optional<int>> ApplyOnce(const ApplyArguments& arguments, const ApplyPlan& plan,
                                     bool last_try) {
  const Clock::time_point started = Clock::now();
  std::unique_ptr<OutcomesFile> outcomes;
  if (!arguments.outcomes.empty()) {
    LW_ASSIGN_OR_RETURN(outcomes, OutcomesFile::Create(arguments.outcomes));
  }
  const std::unique_ptr<Storage> storage = MakeLanceStorage(TableOptionsOf(plan.pipeline));
  LW_ASSIGN_OR_RETURN(std::vector<Destination> destinations, OpenDestinations(plan, *storage));
  LW_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source,
                      MakeSource(arguments, plan, destinations));
  ProgressBar bar;
  ApplyOptions options = OptionsOf(arguments, plan);
  options.on_note = [&](const std::string& note) {
    bar.Clear();
    SayNote(note);
  };
  if (outcomes != nullptr) {
    options.on_outcomes = [&](const TableConfig& table, const ChangeBatch& batch,
                              const std::vector<Outcome>& decided) {
      outcomes->Write(table.name, batch, decided, *source);
    };
  }
  CatchStopSignals();
  ApplyRun run(*source, std::move(destinations), std::move(options));
  const CommandResult ended = StepToEnd(run, *source, bar);
  bar.Clear();
  if (!ended.ok() && !last_try && MayReopen(ended.error(), plan)) {
    SayNote(Message("{}; opening the tables again", ended.error().message));
    return std::optional<int>();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
  const Status closed = outcomes == nullptr ? Status(Ok{}) : outcomes->Close();
  const CommandResult reported = Report(run, arguments, seconds, !ended.ok());
  if (!ended.ok()) return WithHint(ended.error(), plan);
  LW_RETURN_IF_ERROR(closed);
  if (*ended != 0) return std::optional<int>(*ended);
  LW_RETURN_IF_ERROR(reported);
  return std::optional<int>(arguments.strict ? *reported : 0);
}

CommandResult Apply(const ApplyArguments& arguments) {
  LW_ASSIGN_OR_RETURN(const ApplyPlan plan, PlanApply(arguments));
  BoundFreedMemory(plan.pipeline.memory_bytes);
  for (int reopened = 0;; ++reopened) {
    LW_ASSIGN_OR_RETURN(const std::optional<int> code,
                        ApplyOnce(arguments, plan, reopened == kReopensMax));
    if (code) return *code;
  }
}

constexpr const char* kExamples =
    "  lastword apply events.ndjson --table lake/orders.lance --key id\n"
    "  zcat dump.gz | lastword apply - --format records --table t.lance --key tenant,id\n"
    "  lastword apply a.ndjson b.ndjson.zst --config shop.yaml --json\n"
    "  lastword apply cp7.ndjson --format changelog --table t.lance --key k --checkpoint-id cp-7\n"
    "\n"
    "A file is continued behind what the table holds of it; --from-start delivers all of it "
    "again.\n"
    "SIGINT and SIGTERM finish the running step, commit, and end with 130 and 143.\n";

}  // namespace

void AddApply(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<ApplyArguments>();
  CLI::App* command = app.add_subcommand("apply", "Apply files of changes to tables");
  command->add_option("EVENTS", arguments->events,
                      "Files of changes, one a line, plain or .gz or .zst; - is standard input");
  command->add_option("--table", arguments->table,
                      "The table: path of its Lance dataset; with --config one of its tables");
  command
      ->add_option("--key", arguments->keys,
                   "Primary key, a column or a list a,b; default: the source's")
      ->delimiter(',')
      ->check(NotEmpty())
      ->allow_extra_args(false);  // one word behind it: files may follow
  command
      ->add_option("--column", arguments->columns,
                   "Declare a column as name:type; without any, columns are discovered")
      ->allow_extra_args(false);
  command->add_option("--format", arguments->format,
                      "debezium (default), records, changelog or sequenced");
  command->add_option("--config", arguments->config, "Pipeline configuration, YAML or JSON")
      ->check(NotEmpty());
  command
      ->add_option("--checkpoint-every", arguments->checkpoint_every,
                   "Commit after this many changes; default: at the end, or when memory asks")
      ->check(AtLeast(1));
  command
      ->add_option("--checkpoint-id", arguments->checkpoint_id,
                   "Make this run one checkpoint; an id that is known changes nothing")
      ->check(NotEmpty());
  command->add_flag("--from-start", arguments->from_start,
                    "Deliver files from their first line, whatever is applied already");
  command->add_flag("--dead-letter", arguments->dead_letter,
                    "Apply the records that the tables have put aside, after the fix");
  command
      ->add_option("--outcomes", arguments->outcomes,
                   "Write what became of each change to this file, one JSON line a change")
      ->check(NotEmpty());
  command->add_flag("--strict", arguments->strict,
                    "End with 3 when keys are quarantined or records in the dead letter");
  command->add_flag("--json", arguments->json,
                    "Print one JSON object, the last line of the output");
  command->footer(Footer(kExamples));
  command->callback([arguments, &chosen] {
    chosen.json = &arguments->json;
    chosen.run = [arguments] { return Apply(*arguments); };
  });
}

}  // namespace lastword::cli
