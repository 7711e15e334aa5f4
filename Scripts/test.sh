#!/usr/bin/env bash
# Runs the tests that were built, and says at the end which failed: what a long log shows first.
#
#   Scripts/test.sh [options of swift test]
set -uo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
swift test --skip-build "$@" --skip LatencyTests 2>&1 | tee "$log" || status=1
# What is promised in milliseconds is measured when nothing else runs.
swift test --skip-build "$@" --no-parallel --filter LatencyTests 2>&1 | tee -a "$log" || status=1
if [ $status -ne 0 ]; then
    echo
    echo "What failed:"
    grep -aE '✘|recorded an issue|: error: |Fatal error|exited with' "$log"
fi
exit $status
