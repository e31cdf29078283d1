#!/usr/bin/env bash
# Kills the real program at every named kill point and at random times, and reads what is left with pylance.
# covers: kill -9 of the real program at every named kill point and at random times; rows = oracle at the committed position
# budget: 14 minutes
set -euo pipefail
"$LW_PYTHON" test/crash/crash_test.py --lastword "$LASTWORD" --scratch "$LW_SCRATCH" --minutes 12
