#!/usr/bin/env bash
# covers: the demo as a newcomer runs it; what it prints is what it promises
# budget: 2 minutes
set -euo pipefail
bash tools/demo.sh >"$LW_SCRATCH/demo.txt"
passed=0 failed=0
expect() {
  if grep -qE -- "$2" "$LW_SCRATCH/demo.txt"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $1: no line like $2"
  fi
}
expect "outcomes of the shuffled stream" '^item: applied [0-9]+ stale [1-9][0-9]* repeat [1-9][0-9]* conflict 0 quarantined 0 rows 10 tombstones 2'
expect "the key change" '^100 +Zahnrad'
expect "the unchanged column" '^\{"id":20,"n":2,"big":"klmnopqrst'
expect "the deleted key" '^state +deleted'
expect "the older change" '^would be +stale'
expect "once more, item" '^item: applied 0 stale [0-9]+ repeat [0-9]+ conflict 0 quarantined 0 rows 10 tombstones 2'
expect "once more, toast_d" '^toast_d: applied 0 '
"$LW_PYTHON" - <<'PYTHON' && passed=$((passed + 1)) || failed=$((failed + 1))
import lance
rows = lance.dataset("build/demo/item.lance").to_table().to_pylist()
assert sorted(r["id"] for r in rows) == [1, 2, 5, 6, 7, 8, 51, 53, 60, 100], rows
assert all(len(r["big"]) > 4 for r in lance.dataset("build/demo/toast_d.lance").to_table().to_pylist())
PYTHON
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
