#!/usr/bin/env bash
# Runs each decoder's fuzz target for a short while, starting from the corpus in fuzz/corpus. Whatever it finds is left
# in $LW_SCRATCH; after the fix it goes into the corpus.
# covers: libFuzzer on every file format's decoder, under AddressSanitizer and UndefinedBehaviorSanitizer
# budget: 12 minutes
set -euo pipefail

seconds=${LW_FUZZ_SECONDS:-20}
seed=${LW_SEED:-$RANDOM}
formats="debezium records changelog sequenced"
# shellcheck disable=SC2086
./dev compile fuzz $(printf 'fuzz_%s ' $formats)
passed=0 failed=0
for format in $formats; do
  mkdir -p "$LW_SCRATCH/$format"
  if build/fuzz/fuzz/fuzz_"$format" -seed="$seed" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 \
    -artifact_prefix="$LW_SCRATCH/$format-" "$LW_SCRATCH/$format" "fuzz/corpus/$format" >"$LW_SCRATCH/$format.log" 2>&1; then
    echo "$format: $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$LW_SCRATCH/$format.log") inputs, seed $seed"
    passed=$((passed + 1))
  else
    tail -n 30 "$LW_SCRATCH/$format.log"
    echo "$format: failed, seed $seed"
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
