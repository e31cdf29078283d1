# Sourced by ./dev: the benchmarks of `./dev bench NAME`. A benchmark is a function bench_NAME that builds what it
# needs and runs it; its first comment line says what it measures. None of them is a test.

bench() {
  local name="${1:-files}"
  shift || true
  declare -F "bench_$name" >/dev/null || fail "no benchmark '$name'; there are $(list_benches | cut -d ' ' -f 1 | paste -sd ' ')"
  build_lance
  "bench_$name" "$@"
}

list_benches() { sed -n 's/^bench_\([a-z]*\)() { *# */\1 /p' "$ROOT/tools/bench.sh"; }

bench_files() { # files into tables, beside simdjson, DuckDB, pylance and delta-rs; --help lists its options
  compile release make_workload floors lastword
  "$(python_env bench/requirements.txt)" bench/files.py --build build/release "$@"
}

bench_profile() { # [EVENTS]: the parts of a file's way, in one process, for a profiler to look at
  compile release file_bench
  build/release/bench/file_bench "${@:-1000000}"
}

bench_checkpoints() { # a checkpoint beside merge and delete of pylance and delta-rs, by size of the table; --help
  compile release checkpoint_cost
  "$(python_env bench/requirements.txt)" bench/checkpoints.py --build build/release "$@"
}

bench_commits() { # [CHECKPOINTS [ROWS [UPDATES]]]: many small checkpoints on one table, with compaction and clean-up
  compile release commit_bench
  build/release/bench/commit_bench "$@"
}

bench_index() { # [KEYS…]: the key index in memory and in RocksDB, alone; 100000000 keys take 7 GB of disk
  local keys
  compile release index_bench
  for keys in "${@:-10000000}"; do
    build/release/bench/index_bench memory "$keys"
    build/release/bench/index_bench rocksdb "$keys"
  done
}

bench_collapse() { # [KEYS…]: decoding, collapse and index together, by keys in the index; 100000000r: in RocksDB
  local sizes=("$@")
  [ $# -gt 0 ] || sizes=(1000000 50000000)
  compile release collapse_bench
  build/release/bench/collapse_bench "${sizes[@]}"
}

bench_flink() { # [EVENTS]: sinks of Flink on one changelog: Lastword, Paimon, Iceberg, a blackhole; --help
  local target="$ROOT/bench/flink/target"
  java/flink/build.sh package -DskipTests
  mvn -B -q "-Dmaven.repo.local=$CACHE/m2" -f bench/flink/pom.xml package dependency:copy-dependencies "-DoutputDirectory=$target/lib"
  python3 bench/flink.py --libraries "$target/lib" --bench "$target/lastword-flink-bench-0.jar" \
    --lastword java/flink/target/lastword-flink-0.1.0.jar "$@"
}

bench_committer() { # [CHECKPOINTS [EVENTS [KEYS]]]: the one committer of the Flink sink alone, through the C interface
  local folder
  compile release committer_bench
  folder=$(mktemp -d build/committer-XXXXXX)
  build/release/bench/committer_bench "$folder" "$@"
  rm -rf "$folder"
}
