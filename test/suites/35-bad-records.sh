#!/usr/bin/env bash
# covers: each error kind that a file can raise: message, place, exit code 3, earlier rows committed
# budget: 3 minutes
set -euo pipefail
exec "$LW_PYTHON" "$(dirname "$0")/../acceptance/bad_records.py" --lastword "$LASTWORD" \
  --scratch "$LW_SCRATCH"
