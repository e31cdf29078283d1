#!/usr/bin/env bash
# budget: 5 minutes
# covers: the two texts that started the project, through the program and read back with pylance
set -euo pipefail
exec "$LW_PYTHON" "$(dirname "$0")/../acceptance/seeds.py" --lastword "$LASTWORD" --scratch "$LW_SCRATCH"
