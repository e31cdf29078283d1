#!/usr/bin/env bash
# covers: several source tables in one table, through the program: truncates, snapshots, floors of each
# budget: 2 minutes
set -euo pipefail
exec "$LW_PYTHON" "$(dirname "$0")/../acceptance/sources.py" --lastword "$LASTWORD" --scratch "$LW_SCRATCH"
