// How much one committer can take: sealed batches of the changelog of the Flink benchmark,
// committed one checkpoint behind the other through the C interface, with nothing beside them. A
// committer is busy all the time where checkpoints come as fast as this. Prints what a commit
// costs, and what writers pay to take and seal the same events.
//
//   committer_bench FOLDER [CHECKPOINTS [EVENTS [KEYS]]]
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "lastword/c.h"

namespace {

constexpr const char* kShape =
    R"("columns": [{"name": "k", "type": "int64", "nullable": false}, {"name": "n", "type": "int64"},
       {"name": "payload", "type": "string"}], "key": ["k"])";
constexpr size_t kPayloadBytes = 100;
// As many letters as a compressor does not remember.
constexpr int kPoolBits = 24;
constexpr uint64_t kDeletesOf256 = 38;  // 15 %
constexpr size_t kHandOverBytes = 1 << 18;

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Of this thread, or of all threads of this process.
double ProcessorSeconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void Check(int32_t result, const lastword_error* error) {
  if (result == 0) return;
  std::fprintf(stderr, "%s\n", error == nullptr ? "no memory" : lastword_error_message(error));
  std::exit(1);
}

uint64_t HashOf(uint64_t number) {
  uint64_t h = (number + 1) * 0x9E3779B97F4A7C15;
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EB;
  return h ^ (h >> 31);
}

// Event `number` as an encoded row (lastword/c.h).
void AppendEvent(uint64_t number, uint64_t keys, const std::string& letters, std::string& out) {
  const uint64_t hash = HashOf(number);
  const uint64_t key = (hash >> 8) % keys;
  const uint32_t size = kPayloadBytes;
  out += static_cast<char>((hash & 0xFF) < kDeletesOf256 ? 3 : 2);
  out += '\0';
  out.append(reinterpret_cast<const char*>(&key), sizeof key);
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out.append(letters, hash >> (64 - kPoolBits), kPayloadBytes);
}

std::string Letters() {
  std::string letters;
  for (uint64_t i = 0; i < (1 << kPoolBits) + kPayloadBytes; ++i) {
    letters += static_cast<char>('a' + HashOf(i) % 26);
  }
  return letters;
}

struct Checkpoint {
  std::vector<lastword_bytes*> batches;
  uint64_t bytes = 0;
};

class Events {
 public:
  explicit Events(uint64_t keys) : x_keys(keys), x_letters(Letters()) {
    const std::string options = std::string("{") + kShape + R"(, "sealed_bytes_max": 4194304})";
    lastword_error* error = nullptr;
    Check(lastword_writer_open(options.data(), options.size(), &x_writer, &error), error);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() { lastword_writer_close(x_writer); }

  /// The next `count` events, sealed.
  Checkpoint Next(uint64_t count) {
    lastword_error* error = nullptr;
    for (const uint64_t end = x_number + count; x_number < end;) {
      std::string rows;
      uint64_t added = 0;
      for (; x_number < end && rows.size() < kHandOverBytes; ++x_number, ++added) {
        AppendEvent(x_number, x_keys, x_letters, rows);
      }
      const double begin = ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID);
      Check(lastword_writer_add(x_writer, reinterpret_cast<const uint8_t*>(rows.data()),
                                rows.size(), added, &error),
            error);
      add_seconds += ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID) - begin;
    }
    Checkpoint checkpoint;
    const double begin = ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID);
    for (lastword_bytes* batch = nullptr;;) {
      Check(lastword_writer_seal(x_writer, &batch, &error), error);
      if (batch == nullptr) break;
      checkpoint.batches.push_back(batch);
      checkpoint.bytes += lastword_bytes_size(batch);
    }
    seal_seconds += ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID) - begin;
    return checkpoint;
  }

  double add_seconds = 0, seal_seconds = 0;

 private:
  const uint64_t x_keys;
  const std::string x_letters;
  lastword_writer* x_writer = nullptr;
  uint64_t x_number = 0;
};

lastword_commit_result Commit(lastword_table* table, uint64_t number, Checkpoint& checkpoint) {
  std::vector<lastword_view> views;
  for (const lastword_bytes* batch : checkpoint.batches) {
    views.push_back({lastword_bytes_data(batch), lastword_bytes_size(batch)});
  }
  const std::string id = std::to_string(number);
  lastword_commit_result result{};
  result.size = sizeof result;
  lastword_error* error = nullptr;
  Check(lastword_table_commit(table, id.data(), id.size(), views.data(), views.size(), &result,
                              &error),
        error);
  for (lastword_bytes* batch : checkpoint.batches) lastword_bytes_free(batch);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: committer_bench FOLDER [CHECKPOINTS [EVENTS [KEYS]]]\n");
    return 2;
  }
  const auto number = [&](int i, uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const uint64_t checkpoints = std::max<uint64_t>(2, number(2, 12));
  const uint64_t events = number(3, 1'000'000);
  const uint64_t keys = number(4, 1'000'000);
  const std::string uri = std::string(argv[1]) + "/committer.lance";
  std::filesystem::remove_all(uri);
  std::filesystem::remove_all(uri + ".lastword");

  const std::string options = std::string("{") + kShape + "}";
  lastword_table* table = nullptr;
  lastword_error* error = nullptr;
  Check(lastword_table_open(uri.data(), uri.size(), options.data(), options.size(), &table, &error),
        error);
  Events source(keys);
  std::vector<double> commits;
  uint64_t bytes = 0, changes = 0;
  double thread_seconds = 0, process_seconds = 0;
  for (uint64_t i = 0; i < checkpoints; ++i) {
    Checkpoint checkpoint = source.Next(events);
    const Clock::time_point begin = Clock::now();
    const double thread_begin = ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID);
    const double process_begin = ProcessorSeconds(CLOCK_PROCESS_CPUTIME_ID);
    const lastword_commit_result result = Commit(table, i, checkpoint);
    // The first one makes the table.
    if (i == 0) continue;
    commits.push_back(Since(begin));
    thread_seconds += ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID) - thread_begin;
    process_seconds += ProcessorSeconds(CLOCK_PROCESS_CPUTIME_ID) - process_begin;
    bytes += checkpoint.bytes;
    changes += result.applied;
  }
  lastword_table_close(table);

  double total = 0;
  for (const double seconds : commits) total += seconds;
  std::sort(commits.begin(), commits.end());
  const auto measured = static_cast<double>(commits.size() * events);
  const auto all = static_cast<double>(checkpoints * events);
  std::printf("%zu commits of %llu events over %llu keys, %.0f keys and %.1f MB sealed each\n",
              commits.size(), static_cast<unsigned long long>(events),
              static_cast<unsigned long long>(keys),
              static_cast<double>(changes) / static_cast<double>(commits.size()),
              static_cast<double>(bytes) / static_cast<double>(commits.size()) / 1e6);
  std::printf("a commit: p50 %.0f ms, longest %.0f ms\n", commits[commits.size() / 2] * 1e3,
              commits.back() * 1e3);
  std::printf("busy all the time: %.2f M events/s, %.2f M changes/s, %.0f MB/s sealed\n",
              measured / total / 1e6, static_cast<double>(changes) / total / 1e6,
              static_cast<double>(bytes) / total / 1e6);
  std::printf("a key: %.2f us of processor, %.2f of them in the committer's thread\n",
              process_seconds / static_cast<double>(changes) * 1e6,
              thread_seconds / static_cast<double>(changes) * 1e6);
  std::printf("a writer: %.3f us of processor an event to take it, %.3f us to seal it\n",
              source.add_seconds / all * 1e6, source.seal_seconds / all * 1e6);
  return 0;
}
