#!/usr/bin/env bash
# Runs the command line as a user does and compares its words, JSON and exit codes with golden ones.
# covers: every command, option, exit code and error object of the program, on real storage
# budget: 3 minutes
set -euo pipefail
"$LW_PYTHON" test/cli/run_cli.py --lastword "$LASTWORD" --scratch "$LW_SCRATCH"
