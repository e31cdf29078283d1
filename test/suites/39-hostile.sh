#!/usr/bin/env bash
# covers: hostile records through the program: the error, and a bound on the memory that each takes
# budget: 3 minutes
set -euo pipefail
exec "$LW_PYTHON" "$(dirname "$0")/../acceptance/hostile.py" --lastword "$LASTWORD" --scratch "$LW_SCRATCH"
