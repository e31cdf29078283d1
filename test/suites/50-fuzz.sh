#!/usr/bin/env bash
# Runs every fuzz target for a while, from the corpus in fuzz/corpus. What it finds is left in
# $LW_SCRATCH; after the fix it goes into the corpus. LW_FUZZ_SECONDS and LW_SEED choose.
# covers: libFuzzer on every decoder and on everything stored, under ASan and UBSan
# budget: 16 minutes
set -euo pipefail
seconds=${LW_FUZZ_SECONDS:-60}
seed=${LW_SEED:-$RANDOM}
targets=(debezium records changelog sequenced stored)
./dev compile fuzz "${targets[@]/#/fuzz_}"

run() {
  mkdir -p "$LW_SCRATCH/$1"
  build/fuzz/fuzz/fuzz_"$1" -seed="$seed" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 \
    -max_len=65536 -print_final_stats=1 -artifact_prefix="$LW_SCRATCH/$1-" \
    "$LW_SCRATCH/$1" "fuzz/corpus/$1" >"$LW_SCRATCH/$1.log" 2>&1
}

# Two at a time: one a core.
passed=0 failed=0
for ((i = 0; i < ${#targets[@]}; i += 2)); do
  pids=()
  for target in "${targets[@]:i:2}"; do
    run "$target" &
    pids+=("$target:$!")
  done
  for pair in "${pids[@]}"; do
    target=${pair%%:*}
    if wait "${pair##*:}"; then
      passed=$((passed + 1))
      inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$LW_SCRATCH/$target.log")
      echo "$target: $inputs inputs in $seconds s, seed $seed, no finding"
    else
      failed=$((failed + 1))
      echo "$target: a finding with seed $seed; the input lies in $LW_SCRATCH"
      tail -n 40 "$LW_SCRATCH/$target.log"
    fi
  done
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
