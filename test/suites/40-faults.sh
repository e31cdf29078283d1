#!/usr/bin/env bash
# budget: 4 minutes
# covers: storage faults and foreign programs between two checkpoints: nothing lost, a clear error, a way on
set -euo pipefail
exec "$LW_PYTHON" "$(dirname "$0")/../acceptance/faults.py" --lastword "$LASTWORD" --scratch "$LW_SCRATCH"
