#!/usr/bin/env bash
# Runs the tests that were built. A failed run ends with the list of what failed.
#
#   Scripts/test.sh FILTER [options of swift test]      FILTER is a regular expression; empty for all tests
set -uo pipefail
filter=$1
shift
if [ -n "$filter" ]; then
    swift test --skip-build "$@" --filter "$filter"
    exit
fi
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
failed='✘|recorded an issue|: error: |Fatal error|exited with'
# group NAME OPTIONS: runs tests, writes what they say into a file, and shows failures and whole suites.
group() {
    local log=$logs/$1
    shift
    swift test --skip-build "$@" 2>&1 | tee "$log.log" | grep -aE --line-buffered "✔ Suite|Test run with|$failed"
    [ "${PIPESTATUS[0]}" -eq 0 ] || touch "$log.failed"
}

# Three processes at a time, so that a processor has work while the tests of one process wait for servers, files and other
# processes, or for each other. The faults have a process of their own: a test of many steps gets one step whenever all others
# have had one.
suite=DAOConformanceTests
waiting='DAOPostgresTests|DAOSQLTests|DAOProcessTests|DAOCommandLineTests'
faults=MutantTests
options=("$@" --ignore-lock --skip LatencyTests)
group suite "${options[@]}" --filter "$suite" --skip "$faults" &
group others "${options[@]}" --skip "$suite|$waiting" &
group waiting "${options[@]}" --filter "$waiting"
group faults "${options[@]}" --filter "$faults"
wait
# Promises in milliseconds are measured while nothing else runs.
group latency "$@" --no-parallel --filter LatencyTests
if compgen -G "$logs/*.failed" >/dev/null; then
    echo
    echo "What failed:"
    grep -haE "$failed" "$logs"/*.log
    exit 1
fi
