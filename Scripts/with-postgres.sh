#!/usr/bin/env bash
# Runs a command with a PostgreSQL server of its own, whose URL is in DAO_POSTGRES_URL. The server is in a temporary directory, listens on
# a socket there and on no port, and is stopped and removed whatever happens. A server refuses to run as root: root runs it as the user
# of the package, "postgres".
#
# The command may start more servers, whose data are in directories beside that of this one: with the programs in DAO_POSTGRES_BIN, run by
# what DAO_POSTGRES_OWNER says. They are stopped, too.
#
# Where PgBouncer is there, it runs in front of the server, in transaction mode, and its URL is in DAO_POOLER_URL.
#
#   Scripts/with-postgres.sh COMMAND …
#   Scripts/with-postgres.sh --if-possible COMMAND …    where no server can be started, says why, and runs the command without
#   Scripts/with-postgres.sh --durable COMMAND …        the server syncs what it stores, for measurements
set -uo pipefail

is_needed=yes
syncs=off
while true; do
    case ${1:-} in
        --if-possible) is_needed= ;;
        --durable) syncs=on ;;
        *) break ;;
    esac
    shift
done

# There is no server: fails, or runs the command without.
go_without() {
    if [ -n "$is_needed" ]; then exit 1; fi
    unset DAO_POSTGRES_URL
    "$@"
    exit
}

for directory in "${POSTGRES_BIN:-}" "$(pg_config --bindir 2>/dev/null)" /usr/lib/postgresql/*/bin /opt/homebrew/opt/postgresql*/bin /usr/local/opt/postgresql*/bin; do
    if [ -n "$directory" ] && [ -x "$directory/initdb" ]; then binaries=$directory; fi
done
if [ -z "${binaries:-}" ]; then
    echo "with-postgres: there is no 'initdb'; run Scripts/setup.sh, or set POSTGRES_BIN to the directory of PostgreSQL's programs" >&2
    go_without "$@"
fi

# The path of a socket has to be short.
place=$(mktemp -d /tmp/dao-pg.XXXXXX)
# Bash 3.2, which macOS has, takes an empty array for a variable that is not set; hence the form in which these words are used.
as_owner=()
if [ "$(id -u)" -eq 0 ]; then
    if command -v setpriv >/dev/null; then
        as_owner=(setpriv --reuid=postgres --regid=postgres --clear-groups)
    else
        as_owner=(sudo -u postgres)
    fi
    chown postgres "$place"
fi
chmod 755 "$place"

stop() {
    [ -n "${child:-}" ] && kill "$child" 2>/dev/null && wait "$child" 2>/dev/null
    # It has nothing to lose, and ignores what a command in the background ignores.
    for pid in "$place"/*/pgbouncer.pid; do [ -e "$pid" ] && kill -KILL "$(cat "$pid")" 2>/dev/null; done
    for data in "$place"/*/postmaster.pid; do
        ${as_owner[@]+"${as_owner[@]}"} "$binaries/pg_ctl" -D "$(dirname "$data")" -m immediate -w stop >/dev/null 2>&1
    done
    rm -rf "$place"
}
trap stop EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
# When this script is killed, nobody is left to stop the server but this.
( trap '' INT HUP TERM; while kill -0 $$ 2>/dev/null; do sleep 1; done; child=; stop ) </dev/null >/dev/null 2>&1 &

# Nothing is stored for longer than the command runs, so nothing has to be synced.
(
    cd "$place" || exit 1
    ${as_owner[@]+"${as_owner[@]}"} "$binaries/initdb" --no-sync -D data -U dao -A trust -E UTF8 --no-locale &&
        # Only this user needs a password.
        { echo 'local all dao_locked scram-sha-256' && cat data/pg_hba.conf; } >hba.new && cat hba.new >data/pg_hba.conf &&
        ${as_owner[@]+"${as_owner[@]}"} "$binaries/pg_ctl" -D data -l log -w -t 60 start -o "-c fsync=$syncs -c full_page_writes=$syncs -c listen_addresses='' \
            -c unix_socket_directories='$place' -c max_connections=400 -c shared_buffers=64MB -c max_wal_size=4GB -c jit=off"
) >"$place/start.log" 2>&1
if [ $? -ne 0 ]; then
    echo "with-postgres: the server did not start:" >&2
    cat "$place/start.log" "$place/log" >&2 2>/dev/null
    go_without "$@"
fi

export DAO_POSTGRES_BIN=$binaries DAO_POSTGRES_OWNER="${as_owner[*]:-}"
export DAO_POSTGRES_URL="postgres://dao@${place//\//%2F}/postgres"

pgbouncer=$(PATH="$PATH:/usr/sbin:/opt/homebrew/bin" command -v pgbouncer)
if [ -n "$pgbouncer" ]; then
    pooler=$place/pooler
    ${as_owner[@]+"${as_owner[@]}"} mkdir "$pooler"
    cat >"$pooler/pgbouncer.ini" <<CONFIGURATION
[databases]
* = host=$place
[pgbouncer]
pool_mode = transaction
unix_socket_dir = $pooler
listen_addr =
listen_port = 5432
auth_type = trust
auth_file = $pooler/users.txt
max_client_conn = 2000
default_pool_size = 150
pidfile = $pooler/pgbouncer.pid
logfile = $pooler/log
CONFIGURATION
    echo '"dao" ""' >"$pooler/users.txt"
    if ${as_owner[@]+"${as_owner[@]}"} "$pgbouncer" -q -d "$pooler/pgbouncer.ini" >"$pooler/start.log" 2>&1; then
        export DAO_POOLER_URL="postgres://dao@${pooler//\//%2F}/postgres"
    else
        echo "with-postgres: PgBouncer did not start, and is left out:" >&2
        cat "$pooler/start.log" >&2
    fi
fi
# In the background, so that a signal stops the server at once.
"$@" <&0 &
child=$!
wait "$child"
status=$?
child=
exit $status
