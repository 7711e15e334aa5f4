#!/usr/bin/env bash
# Builds and runs the package in Tests/Consumers with one backend after the other, and makes sure that it needs no headers or
# libraries of the others. Where the system allows it (Linux, as root), the headers of the others are really hidden.
#
#   Scripts/check-consumers.sh [options of swift build]
set -euo pipefail
cd "$(dirname "$0")/../Tests/Consumers"
# An application is compiled again after an update only where the product that it names has the module that changed.
swift package --package-path ../.. dump-package | python3 -c '
import json, sys
for product in json.load(sys.stdin)["products"]:
    if product["name"] in ("DAOMemory", "DAOSQLite", "DAOLMDB", "DAOPostgres", "DAONodes") and "DAOCore" not in product["targets"]:
        sys.exit("check-consumers: the product " + product["name"] + " does not name DAOCore")'
# The package's own build has the same modules; with the same options, each is compiled once for both.
build=../../.build

# Debian has this header in the folder of the machine's kind.
curl=/usr/include/curl/curl.h
for header in /usr/include/*/curl/curl.h; do if [ -e "$header" ]; then curl=$header; fi; done

# What each backend must do without.
hidden_from() {
    local all="/usr/include/microhttpd.h $curl /usr/include/postgresql/libpq-fe.h /usr/include/openssl/evp.h"
    case $1 in
        SQLite) echo $all /usr/include/lmdb.h ;;
        LMDB) echo $all /usr/include/sqlite3.h ;;
        Memory | Nodes) echo $all /usr/include/lmdb.h /usr/include/sqlite3.h ;;
    esac
}

can_hide=no
if [ "$(uname)" = Linux ] && [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then can_hide=yes; fi

# The libraries that the program is linked with.
linked() {
    if [ "$(uname)" = Linux ]; then ldd $build/debug/App; else otool -L $build/debug/App; fi
}

# They share a build. Memory comes first, so that what all use is built without any of the headers, where nothing
# is built yet.
for BACKEND in Memory Nodes SQLite LMDB; do
    export BACKEND
    headers=$(hidden_from "$BACKEND")
    run='
        log=$(mktemp)
        trap "rm -f $log" EXIT
        swift build --scratch-path '$build' '"$*"' >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
        '$build'/debug/App'
    if [ $can_hide = yes ]; then
        unshare --mount bash -c '
            set -e
            for header in '"$headers"'; do mount --bind /dev/null "$header"; done
            '"$run"
    else
        bash -c "$run"
    fi
    for header in $headers; do
        library=$(basename "$header" .h)
        library=${library%-fe}
        # OpenSSL has its headers in a folder.
        if [ $library = evp ]; then library=crypto; fi
        # Foundation itself loads libcurl for the client of DAOTransport, and libcurl loads libcrypto.
        case $BACKEND-$library in Nodes-curl | Nodes-crypto) continue ;; esac
        if linked | grep -q "lib${library#lib}"; then
            echo "check-consumers: $BACKEND links $library" >&2
            exit 1
        fi
    done
    echo "check-consumers: $BACKEND builds and runs without: $headers$([ $can_hide = yes ] || echo ' (not hidden, only not linked)')"
done
