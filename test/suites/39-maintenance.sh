#!/usr/bin/env bash
# covers: compaction, clean-up, tagged versions, scalar and vector indexes, through the program, read by pylance
# budget: 3 minutes
set -euo pipefail
exec "$LW_PYTHON" "$(dirname "$0")/../acceptance/maintenance.py" --lastword "$LASTWORD" --scratch "$LW_SCRATCH"
