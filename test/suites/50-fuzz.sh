#!/usr/bin/env bash
# budget: 14 minutes
# covers: every decoder and everything stored, 60 s each over the kept corpus and new inputs, under ASan and UBSan
set -euo pipefail
targets=(fuzz_debezium fuzz_records fuzz_changelog fuzz_sequenced fuzz_stored)
./dev compile fuzz "${targets[@]}"

# Inputs that fuzzing finds go to scratch; those that show something are committed to fuzz/corpus by hand.
run() {
  local corpus=fuzz/corpus/${1#fuzz_} found=$LW_SCRATCH/$1
  mkdir -p "$found"
  (cd "$LW_SCRATCH" && "$OLDPWD/build/fuzz/fuzz/$1" -max_total_time=60 -timeout=20 -rss_limit_mb=3000 -max_len=65536 \
    -print_final_stats=1 "$found" "$OLDPWD/$corpus") >"$LW_SCRATCH/$1.log" 2>&1
}

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
      echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$LW_SCRATCH/$target.log") inputs, no finding"
    else
      failed=$((failed + 1))
      echo "$target: a finding; the input lies in $LW_SCRATCH"
      tail -n 40 "$LW_SCRATCH/$target.log"
    fi
  done
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
