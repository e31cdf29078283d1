// `lastword show`: the live rows of a table, now or at an older version.
#include <algorithm>
#include <iostream>

#include "base/format.h"
#include "cli/command.h"
#include "cli/option_checks.h"
#include "cli/row_table.h"
#include "model/key.h"
#include "model/row_text.h"
#include "model/value_rows.h"

namespace lastword::cli {
namespace {

struct ShowArguments {
  std::optional<std::string> where_key;  // the empty text is a key too
  std::string format = "table";
  uint64_t limit = UINT64_MAX;
  std::optional<uint64_t> as_of;
};

// Rows one by one in the format that was asked for.
class RowPrinter {
 public:
  RowPrinter(const std::string& format, const Schema& schema)
      : x_format(format), x_schema(schema), x_table(schema) {
    if (x_format == "csv") std::cout << CsvHeader(schema) << '\n';
  }

  void Print(const Row& row) {
    if (x_format == "json") {
      std::cout << RowToJson(x_schema, row) << '\n';
    } else if (x_format == "csv") {
      std::cout << RowToCsv(x_schema, row) << '\n';
    } else {
      x_table.Add(row, std::cout);
    }
  }
  void End() {
    if (x_format == "table") x_table.End(std::cout);
    std::cout << std::flush;
  }

 private:
  const std::string& x_format;
  Schema x_schema;
  RowTable x_table;
};

// The newest row of one key is found by the index, not by a scan.
CommandResult ShowKey(const OpenedTable& table, const ShowArguments& show) {
  LW_ASSIGN_OR_RETURN(const Explanation told, table->Explain(*show.where_key, {}));
  RowPrinter printer(show.format, table->schema());
  if (told.row && show.limit != 0) printer.Print(*told.row);
  printer.End();
  return 0;
}

CommandResult ShowRows(const OpenedTable& table, const ShowArguments& show) {
  std::optional<std::string> wanted;
  if (show.where_key) {
    LW_ASSIGN_OR_RETURN(wanted, ParseKey(table->schema(), *show.where_key));
  }
  std::unique_ptr<RowPrinter> printer;
  std::optional<Error> failed;
  uint64_t left = show.limit;
  std::string key;
  const auto print = [&](const Rows& rows, const Schema& schema) {
    if (printer == nullptr) printer = std::make_unique<RowPrinter>(show.format, schema);
    for (uint64_t row = 0; row < rows.size() && left != 0; ++row) {
      if (wanted) {
        key.clear();
        if (const lastword::Status read = AppendKey(schema, rows, row, key); !read.ok()) {
          failed = read.error();
          return false;
        }
        if (key != *wanted) continue;
      }
      printer->Print(ReadRow(schema, rows, row));
      --left;
    }
    return left != 0;
  };
  const lastword::Status scanned = table->Scan(print, show.as_of);
  if (!scanned.ok() && scanned.error().kind == ErrorKind::kUsage && show.as_of) {
    return Error{ErrorKind::kUsage,
                 Message("--as-of {}: the table has no such version, or it was cleaned up; the "
                         "newest is {}, `lastword log` lists them",
                         *show.as_of, table.status.lance_version),
                 {}};
  }
  LW_RETURN_IF_ERROR(scanned);
  if (failed) return *failed;
  if (printer == nullptr) printer = std::make_unique<RowPrinter>(show.format, table->schema());
  printer->End();
  return 0;
}

CommandResult Show(const TableArguments& arguments, const ShowArguments& show) {
  LW_ASSIGN_OR_RETURN(const OpenedTable table,
                      OpenExisting(arguments.uri, arguments.config, /*read_only=*/true));
  if (show.where_key && !show.as_of) return ShowKey(table, show);
  return ShowRows(table, show);
}

constexpr const char* kExamples =
    "  lastword show lake/orders.lance --limit 20\n"
    "  lastword show lake/orders.lance --where-key 7 --format json\n"
    "  lastword show lake/orders.lance --as-of 3 --format csv\n"
    "\n"
    "json prints one object a row and line; integers and decimals keep every digit.\n";

}  // namespace

void AddShow(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("show", "Print the rows of a table");
  const auto arguments = std::make_shared<TableArguments>();
  const auto show = std::make_shared<ShowArguments>();
  command->add_option("TABLE", arguments->uri, "The table: path of its Lance dataset")->required();
  command->add_option("--config", arguments->config,
                      "Pipeline configuration whose memory and durability hold");
  command->add_option("--where-key", show->where_key, "Only the row of this key");
  command->add_option("--limit", show->limit, "At most this many rows")->check(AtLeast(0));
  command->add_option("--format", show->format, "table (default), json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}));
  command->add_flag_callback(
      "--json",
      [arguments, show] {
        arguments->json = true;
        show->format = "json";
      },
      "The same as --format json; an error is an object on standard output");
  command->add_option("--as-of", show->as_of, "Rows of this Lance version; default: the newest")
      ->check(AtLeast(1));
  command->footer(Footer(kExamples));
  command->callback([=, &chosen] {
    chosen.json = &arguments->json;
    chosen.run = [=] { return Show(*arguments, *show); };
  });
}

}  // namespace lastword::cli
