# Sourced by ./dev: the stages of `./dev test`, cheapest first, failing fast. A stage is a function stage_NAME that
# ends its output with "N passed, N failed" where it runs tests, and exits non-zero when anything failed. It runs in
# a process of its own with a time limit. Executable files test/suites/NN-NAME.sh are further stages.

# NAME | minutes at most | what it covers. The first build of a machine compiles the Lance crate: hence its limit.
STAGES="
format |  2 | C++ and Rust are formatted
tidy   |  2 | rules of the tree: arrows, headers, sizes, names, documented promises
build  | 70 | the program and its tests (release)
unit   |  2 | fast unit tests
asan   | 20 | fast unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
tsan   | 20 | fast unit tests under ThreadSanitizer, without the Rust library
slow   | 15 | slow unit tests: exhaustive scripts, simulation, real Lance tables
cases  | 15 | public bug reports of other engines, and rules of ours, as cases; tables read by pylance
"

# all_stages: NAME|MINUTES|COVERS, one a line, suites last.
all_stages() {
  local suite
  sed 's/ *| */|/g' <<<"$STAGES" | grep '|'
  for suite in test/suites/[0-9]*.sh; do
    [ -x "$suite" ] || continue
    printf '%s|%s|%s\n' "$(suite_name "$suite")" \
      "$(sed -n 's/^# budget: *\([0-9]*\).*/\1/p' "$suite" | head -n 1)" "$(sed -n 's/^# covers: *//p' "$suite" | head -n 1)"
  done
}

suite_name() { basename "$1" .sh | sed 's/^[0-9]*-//'; }

list_stages() {
  local name minutes covers
  all_stages | while IFS='|' read -r name minutes covers; do printf '%-14s %3s min  %s\n' "$name" "$minutes" "$covers"; done
}

# run_stages [NAME…]: all stages without names. Prints the sum of all counts as the last line.
run_stages() {
  local name minutes covers known=" " passed=0 failed=0 result=0
  while IFS='|' read -r name minutes covers; do
    [[ "$known" != *" $name "* ]] || { say "two stages are called $name"; result=1; break; }
    known="$known$name "
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    [ -n "$minutes" ] && [ -n "$covers" ] || { say "suite $name lacks its '# budget:' or '# covers:' line"; result=1; break; }
    run_stage "$name" "$minutes" "$covers" || { result=1; break; }
  done < <(all_stages)
  for name in "$@"; do [ "$result" = 1 ] || [[ "$known" == *" $name "* ]] || { say "no stage '$name'; ./dev stages"; result=1; }; done
  [ "$((passed + failed))" -gt 0 ] || { say "no test ran"; [ $# -gt 0 ] || result=1; }
  [ "$result" = 0 ] || [ "$failed" -gt 0 ] || failed=1
  say ""
  say "all of it took $((SECONDS / 60)) min $((SECONDS % 60)) s"
  say "$passed passed, $failed failed"
  return "$result"
}

# run_stage NAME MINUTES COVERS: adds to passed and failed of run_stages.
run_stage() {
  local log="build/log/$1.log" began=$SECONDS pid result=0 counts
  mkdir -p build/log
  say ""
  say "=== $1: $3 (at most $2 min)"
  : >"$log"
  timeout -k 20 "$2m" bash "$ROOT/dev" stage "$1" >"$log" 2>&1 </dev/null &
  pid=$!
  trap 'kill -TERM $pid 2>/dev/null; exit 130' INT TERM
  tail -n +1 -f --pid="$pid" "$log"
  wait "$pid" || result=$?
  trap - INT TERM
  # What a stage left running belongs to the process group of its timeout; nothing may outlive the stage.
  kill -TERM -- "-$pid" 2>/dev/null || true
  counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1 || true)
  passed=$((passed + $(awk '{print $1 + 0}' <<<"$counts")))
  failed=$((failed + $(awk '{print $3 + 0}' <<<"$counts")))
  case "$1" in format | build) ;; *) [ -n "$counts" ] || [ "$result" != 0 ] || { say "$1 printed no count"; result=1; } ;; esac
  [ "$(awk '{print $3 + 0}' <<<"$counts")" = 0 ] || [ "$result" != 0 ] || result=1
  [ "$result" != 124 ] || say "$1 took longer than $2 minutes and was stopped"
  say "=== $1: $([ "$result" = 0 ] && echo passed || echo FAILED) after $(((SECONDS - began) / 60)) min $(((SECONDS - began) % 60)) s; log: $log"
  return "$result"
}

# Files of the checkout that are there, tracked or about to be.
tree_files() {
  git -c safe.directory='*' ls-files -co --exclude-standard -- "$@" | while read -r file; do
    [ ! -f "$file" ] || echo "$file"
  done
}
cpp_files() { tree_files '*.h' '*.cc'; }
rust_files() { tree_files '*.rs'; }

stage_format() {
  cpp_files | xargs -r clang-format-14 --dry-run -Werror
  if command -v rustfmt >/dev/null; then
    rust_files | xargs -r rustfmt --edition 2024 --check
  else
    say "skipped for Rust: rustfmt is not installed"
  fi
}

stage_tidy() {
  python3 tools/tidy.py
  python3 tools/tidy_test.py
}

stage_build() {
  build_lance
  compile release all tests_fast tests_slow
}

# What a stage's tests are started through.
LAUNCH=(env)

# gtest_stage PRESET LABEL MINUTES: runs the built tests of a label, and counts test cases, not programs.
gtest_stage() {
  local out="$ROOT/build/$1/results-$2"
  rm -rf "$out"
  mkdir -p "$out"
  GTEST_OUTPUT="xml:$out/" GTEST_BRIEF=1 "${LAUNCH[@]}" ctest --test-dir "build/$1" -L "^$2\$" -j "$JOBS" --timeout "$(($3 * 60))" \
    --output-on-failure --output-junit "$out/ctest.junit" >"$out/ctest.log" 2>&1 || grep -v '^ *Start\|Passed' "$out/ctest.log"
  # What random and exhaustive tests covered: scripts, seeds, planted bugs.
  grep -hE '^[0-9]+ .*(scripts|seeds|deliveries|histories)|^(fresh )?seeds? |: found by seed' \
    "build/$1/Testing/Temporary/LastTest.log" | cut -c1-150 || true
  python3 tools/count_tests.py "$out"
}

stage_unit() {
  build_lance
  compile release tests_fast
  gtest_stage release fast 1
}

stage_asan() {
  build_lance
  compile asan tests_fast
  ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1 gtest_stage asan fast 10
}

stage_tsan() {
  compile tsan tests_fast
  # The runtime of GCC 12 knows only the address layout without randomisation beyond 28 bits.
  setarch -R true 2>/dev/null && LAUNCH=(setarch -R)
  TSAN_OPTIONS="halt_on_error=1 suppressions=$ROOT/tools/tsan.supp" gtest_stage tsan fast 10
}

stage_slow() {
  build_lance
  compile release tests_slow
  gtest_stage release slow 14
}

stage_cases() {
  local python
  [ -x build/release/lastword ] || fail "cases need build/release/lastword; ./dev build makes it"
  python=$(python_env test/cases/requirements.txt)
  ls test/cases | grep '^[FL][0-9]' |
    xargs -P "$JOBS" -n 4 "$python" test/cases/run_cases.py --lastword build/release/lastword test/cases | sum_counts
}

# Passes lines on, and adds the counts among them up to one last line.
sum_counts() {
  awk '/^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3; next }
       { print; fflush() }
       END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }'
}

# Any other stage is a suite.
run_suite() {
  local suite
  suite=$(ls test/suites/[0-9]*-"$1".sh)
  [ -x build/release/lastword ] || fail "suites need build/release/lastword; ./dev build makes it"
  LW_PYTHON=$(python_env test/cases/requirements.txt)
  LW_SCRATCH="$ROOT/build/suites/$1"
  rm -rf "$LW_SCRATCH"
  mkdir -p "$LW_SCRATCH"
  export LW_PYTHON LW_SCRATCH LASTWORD="$ROOT/build/release/lastword"
  exec "$suite"
}
