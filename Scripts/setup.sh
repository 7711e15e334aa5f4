#!/usr/bin/env bash
# Installs the system packages that swift-dao builds on. Says what it does, asks nothing, and uses sudo only where it is not root.
#
#   Scripts/setup.sh            what building and testing need
#   Scripts/setup.sh --demo     that, and the data that the demo imports
#   Scripts/setup.sh --browser  that, and the browser that presses the buttons of `dao browse`
set -euo pipefail

# A command or file that shows a package is there, and the package that brings it.
# Python runs the web server of the tests and of the offline demo. PostgreSQL's package brings the server of the tests; the one that
# Debian starts by itself is not used, and neither is its pooler. The tests of a fail-over look for its processes, and those of TLS sign certificates.
debian=("pkg-config:pkg-config" "/usr/include/sqlite3.h:libsqlite3-dev" "/usr/include/lmdb.h:liblmdb-dev" "python3:python3"
    "/usr/include/postgresql/libpq-fe.h:libpq-dev" "/usr/include/microhttpd.h:libmicrohttpd-dev" "curl-config:libcurl4-openssl-dev" "/usr/include/openssl/evp.h:libssl-dev" "/usr/lib/postgresql:postgresql" "/usr/sbin/pgbouncer:pgbouncer"
    "pgrep:procps" "openssl:openssl" "/usr/share/unicode/auxiliary/WordBreakTest.txt:unicode-data")
# SQLite comes with macOS: that of brew is built for macOS alone, and stands in the way of applications for iOS.
# The package "postgresql" of brew has no version; any from 13 on will do.
brew=("pkg-config:pkg-config" "lmdb:lmdb" "libpq:libpq" "libmicrohttpd:libmicrohttpd" "curl:curl" "postgresql:postgresql@17" "pgbouncer:pgbouncer")
command -v python3 >/dev/null || brew+=("python3:python3")
if [ "${1:-}" = "--demo" ]; then
    debian+=("/usr/share/iso-codes/json/iso_3166-2.json:iso-codes")
    brew+=("iso-codes:iso-codes")
fi
if [ "${1:-}" = "--browser" ]; then
    debian+=("chromium:chromium" "chromedriver:chromium-driver")
    brew+=("chromedriver:chromedriver" "google-chrome:google-chrome")
fi

if ! command -v swift >/dev/null; then
    echo "setup: there is no 'swift' on the PATH. Install Swift 6.1 or later from swift.org, then run this again." >&2
    exit 1
fi

if command -v apt-get >/dev/null; then
    missing=()
    for entry in "${debian[@]}"; do
        probe=${entry%%:*}
        case $probe in
            /*) [ -e "$probe" ] || missing+=("${entry##*:}") ;;
            *) command -v "$probe" >/dev/null || missing+=("${entry##*:}") ;;
        esac
    done
    if [ ${#missing[@]} -eq 0 ]; then exit 0; fi
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "setup: these packages are missing, and there is neither root nor sudo to install them: ${missing[*]}" >&2
            exit 1
        fi
        as_root=(sudo)
    fi
    echo "setup: installing ${missing[*]} with apt-get"
    ${as_root[@]+"${as_root[@]}"} apt-get update -qq
    ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ${missing[@]+"${missing[@]}"} >/dev/null
elif command -v brew >/dev/null; then
    for entry in "${brew[@]}"; do
        name=${entry##*:}
        brew list --versions "$name" >/dev/null 2>&1 || { echo "setup: installing $name with brew"; brew install --quiet "$name"; }
    done
else
    echo "setup: neither apt-get nor brew is here. Install pkg-config, the headers of SQLite 3, LMDB, libpq, libcurl and libmicrohttpd, and the PostgreSQL server by your system's means." >&2
    command -v pkg-config >/dev/null && pkg-config --exists sqlite3 lmdb libpq libcurl libmicrohttpd
fi
