#!/usr/bin/env bash
# Runs the tests that were built. A failed run ends with the list of what failed.
#
#   Scripts/test.sh FILTER [options of swift test]      FILTER is a regular expression; empty for all tests
set -uo pipefail
# A Mac's shell allows 256 open files; tests that run side by side have more.
if [ "$(ulimit -n)" != unlimited ] && [ "$(ulimit -n)" -lt 4096 ]; then ulimit -n 4096 || echo "test.sh: no more than $(ulimit -n) open files" >&2; fi
# Foundation's Process reads up to 256 bytes behind the buffer in which it lists more than a thousand open files, and ends the tests where
# no memory follows (swift-corelibs-foundation, pull request 5472). A buffer of this size then has a mapping of its own, with room behind it.
export MALLOC_MMAP_THRESHOLD_=32768
log=$(mktemp)
faults_log=$(mktemp)
trap 'rm -f "$log" "$faults_log"' EXIT
status=0
filter=$1
shift
if [ -n "$filter" ]; then
    swift test --skip-build "$@" --filter "$filter"
    exit
fi
skipped=LatencyTests
# They take minutes, and what they judge, the property tests and the planted faults, changes seldom.
if Scripts/property-mutants.sh --is-known; then
    skipped="$skipped|PropertyMutantTests"
    echo "test.sh: the property tests and the planted faults are those of the last 'make property-mutants'"
fi
# These run the suite on faulty databases, some of which time out one after the other. Beside thousands of other tests they would not begin
# before all others have.
faults='MutantTests|StubTests|PageTests|BrokenSharingTests'
# Where one of their hundreds of blocked threads is on the way, the backtrace of a trap never ends, and neither does the run.
SWIFT_BACKTRACE=enable=no swift test --skip-build --ignore-lock "$@" --skip "$skipped" --filter "$faults" >"$faults_log" 2>&1 &
swift test --skip-build --ignore-lock "$@" --skip "$skipped" --skip "$faults" 2>&1 | tee "$log" || status=1
wait $! || status=1
tee -a "$log" <"$faults_log"
# Promises in milliseconds are measured while nothing else runs.
swift test --skip-build "$@" --no-parallel --filter LatencyTests 2>&1 | tee -a "$log" || status=1
if [ $status -ne 0 ]; then
    echo
    echo "What failed:"
    grep -aE '✘|recorded an issue|: error: |Fatal error|exited with' "$log"
fi
exit $status
