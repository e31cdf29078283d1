#include "commit/index_spill.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/files.h"
#include "commit/hash_groups.h"

namespace lastword {
namespace {

constexpr size_t kPieceEntries = 1024;  // 64 KiB
constexpr uint64_t kBucketEntries = 256 << 10;
constexpr int kBitsMin = 6, kBitsMax = 12;
constexpr uint64_t kRunEntries = 2 << 20;
constexpr const char* kPath = "the file in which the key index is sorted";

int BitsFor(uint64_t keys) {
  int bits = kBitsMin;
  while (bits < kBitsMax && keys >> bits > kBucketEntries) ++bits;
  return bits;
}

}  // namespace

std::optional<KeyEntry> Joined(const KeyEntry& one, const KeyEntry& other) {
  const KeyEntry& row = one.live() ? one : other;
  const KeyEntry& kept = one.live() ? other : one;
  if (!row.live() || row.has_extra || kept.status != KeyStatus::kNone || !kept.has_extra) return {};
  KeyEntry joined = row;
  joined.has_extra = true;
  joined.delete_input = kept.delete_input;
  return joined;
}

IndexSpill::IndexSpill(int descriptor, int bits)
    : x_descriptor(descriptor), x_bits(bits), x_buckets(size_t{1} << bits) {}

IndexSpill::~IndexSpill() {
  close(x_descriptor);
}

Result<std::unique_ptr<IndexSpill>> IndexSpill::Create(const std::string& path, uint64_t keys) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) return ErrorFromErrno("create", path, errno);
  std::unique_ptr<IndexSpill> spill(new IndexSpill(descriptor, BitsFor(keys)));
  if (unlink(path.c_str()) != 0) return ErrorFromErrno("remove the name of", path, errno);
  return spill;
}

Status IndexSpill::Add(std::span<const KeyEntry> entries) {
  const HashGroups groups(entries, x_bits);
  for (uint64_t at = 0; at < groups.count(); ++at) {
    if (groups[at].empty()) continue;
    const std::lock_guard lock(x_buckets[at].adding);
    for (const uint32_t place : groups[at]) {
      LW_RETURN_IF_ERROR(AddTo(x_buckets[at], entries[place]));
    }
  }
  return Ok{};
}

Status IndexSpill::AddTo(Bucket& bucket, const KeyEntry& entry) {
  if (bucket.last.size() == kPieceEntries) {
    const char* at = reinterpret_cast<const char*>(bucket.last.data());
    const uint64_t begin = x_end.fetch_add(kPieceEntries * sizeof(KeyEntry));
    for (size_t left = kPieceEntries * sizeof(KeyEntry); left != 0;) {
      const size_t done = kPieceEntries * sizeof(KeyEntry) - left;
      const ssize_t written =
          pwrite(x_descriptor, at + done, left, static_cast<off_t>(begin + done));
      if (written < 0) return ErrorFromErrno("write", kPath, errno);
      left -= static_cast<size_t>(written);
    }
    bucket.pieces.push_back(begin);
    bucket.last.clear();
  }
  if (bucket.last.empty()) bucket.last.reserve(kPieceEntries);
  bucket.last.push_back(entry);
  return Ok{};
}

Status IndexSpill::Read(const Bucket& bucket, std::vector<KeyEntry>& entries) const {
  entries.resize(bucket.pieces.size() * kPieceEntries);
  char* to = reinterpret_cast<char*>(entries.data());
  for (const uint64_t piece : bucket.pieces) {
    for (size_t done = 0; done < kPieceEntries * sizeof(KeyEntry);) {
      const ssize_t got = pread(x_descriptor, to, kPieceEntries * sizeof(KeyEntry) - done,
                                static_cast<off_t>(piece + done));
      if (got <= 0) return ErrorFromErrno("read", kPath, got == 0 ? EIO : errno);
      done += static_cast<size_t>(got);
      to += got;
    }
  }
  entries.insert(entries.end(), bucket.last.begin(), bucket.last.end());
  std::sort(entries.begin(), entries.end(),
            [](const KeyEntry& a, const KeyEntry& b) { return a.key < b.key; });
  return Ok{};
}

Status IndexSpill::FinishBuckets(size_t begin, size_t end, RocksIndex& index, Share& share) {
  std::vector<KeyEntry> entries;
  uint64_t in_run = kRunEntries;
  for (size_t at = begin; at < end; ++at) {
    LW_RETURN_IF_ERROR(Read(x_buckets[at], entries));
    for (size_t i = 0; i < entries.size(); ++i) {
      KeyEntry entry = entries[i];
      if (i + 1 < entries.size() && entries[i + 1].key == entry.key) {
        const std::optional<KeyEntry> joined = Joined(entry, entries[++i]);
        const bool third = i + 1 < entries.size() && entries[i + 1].key == entry.key;
        if (!joined || third) {
          share.contradicted = entry.live() ? entry : entries[i];
          return Ok{};
        }
        entry = *joined;
      }
      if (in_run == kRunEntries) {
        if (!share.runs.empty()) LW_RETURN_IF_ERROR(share.runs.back()->Finish());
        LW_ASSIGN_OR_RETURN(auto run, index.StartRun());
        share.runs.push_back(std::move(run));
        in_run = 0;
      }
      LW_RETURN_IF_ERROR(share.runs.back()->Add(entry));
      ++in_run;
    }
  }
  if (!share.runs.empty()) LW_RETURN_IF_ERROR(share.runs.back()->Finish());
  return Ok{};
}

Status IndexSpill::Finish(RocksIndex& index, std::optional<KeyEntry>& contradicted) {
  const size_t middle = x_buckets.size() / 2;
  Share low, high;
  std::thread second([&] { high.status = FinishBuckets(middle, x_buckets.size(), index, high); });
  low.status = FinishBuckets(0, middle, index, low);
  second.join();
  LW_RETURN_IF_ERROR(low.status);
  LW_RETURN_IF_ERROR(high.status);
  contradicted = low.contradicted ? low.contradicted : high.contradicted;
  if (contradicted) return Ok{};
  std::vector<std::unique_ptr<RocksIndex::Run>> runs = std::move(low.runs);
  std::move(high.runs.begin(), high.runs.end(), std::back_inserter(runs));
  return index.Ingest(runs);
}

}  // namespace lastword
