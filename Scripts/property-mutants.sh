#!/usr/bin/env bash
# Makes sure that the property tests detect every planted fault, and notes of which sources that is known.
#
#   Scripts/property-mutants.sh             runs PropertyMutantTests on the tests that were built, and notes it where they pass
#   Scripts/property-mutants.sh --is-known  succeeds where they have passed with these sources
set -euo pipefail
cd "$(dirname "$0")/.."
# The number of the sources that the answer depends on most: what generates, and what is to be found.
number=$(find Sources/DAOPropertyTesting Tests/DAOConformanceTests/Mutants Tests/DAOConformanceTests/PropertyMutantTests.swift \
    -name '*.swift' -type f | LC_ALL=C sort | xargs cat | cksum)
known=Scripts/property-mutants.known
if [ "${1:-}" = --is-known ]; then
    [ "$(cat $known 2>/dev/null)" = "$number" ]
    exit
fi
swift test --skip-build --filter DAOConformanceTests.PropertyMutantTests
echo "$number" >$known
