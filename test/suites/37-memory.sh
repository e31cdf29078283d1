#!/usr/bin/env bash
# Applies streams that would not fit into `memory:` with the real program, and asks the kernel what it took.
# covers: memory bounds: a hot key, a batch larger than memory, values of 100 MB, 10,000 columns, an index beyond memory, compaction
# budget: 4 minutes
set -euo pipefail
"$LW_PYTHON" test/memory/memory_test.py --lastword "$LASTWORD" --scratch "$LW_SCRATCH"
