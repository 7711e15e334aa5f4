#!/usr/bin/env bash
# Builds and runs the packages under Tests/Consumers, each of which uses one backend, and makes sure that none of them needs the
# headers or libraries of another. Where the system allows it (Linux, as root), the headers of the others are really hidden.
set -euo pipefail
cd "$(dirname "$0")/../Tests/Consumers"

# What each package must do without.
hidden_from() {
    case $1 in
        SQLiteOnly) echo /usr/include/lmdb.h ;;
        LMDBOnly) echo /usr/include/sqlite3.h ;;
        MemoryOnly) echo /usr/include/lmdb.h /usr/include/sqlite3.h ;;
    esac
}

# Builds and runs the package in the current folder. A warning in its own sources is an error.
build_and_run='
    log=$(mktemp)
    trap "rm -f $log" EXIT
    touch Sources/App/main.swift
    swift build >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
    if grep "Sources/App/.* warning: " "$log" >&2; then exit 1; fi
    .build/debug/App'

can_hide=no
if [ "$(uname)" = Linux ] && [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then can_hide=yes; fi

for package in SQLiteOnly LMDBOnly MemoryOnly; do
    headers=$(hidden_from "$package")
    if [ $can_hide = yes ]; then
        unshare --mount bash -c '
            set -e
            for header in '"$headers"'; do mount --bind /dev/null "$header"; done
            cd '"$package; $build_and_run"
    else
        (cd "$package" && bash -c "$build_and_run")
    fi
    for header in $headers; do
        library=$(basename "$header" .h)
        if [ "$(uname)" = Linux ] && ldd "$package/.build/debug/App" | grep -q "lib${library#lib}"; then
            echo "check-consumers: $package links $library" >&2
            exit 1
        fi
    done
    echo "check-consumers: $package builds and runs without: $headers$([ $can_hide = yes ] || echo ' (not hidden, only not linked)')"
done
