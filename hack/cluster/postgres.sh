#!/usr/bin/env bash
# A PostgreSQL for tests, out of Debian's package, with data of its own.
#
#   postgres.sh up      starts it, prints what `info` prints
#   postgres.sh info    name=value lines: address, port, user, password_file, database, url
#   postgres.sh down    stops it and removes the data
#
# `url` is a Pulumi backend for pods. It runs where lib/service.sh says: in the cluster's node, or on
# loopback without one. RCO_POSTGRES_PORT: default 5432.
set -euo pipefail
# shellcheck source=lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
for part in node service; do
    # shellcheck source=/dev/null
    . "$CLUSTER_DIR/lib/$part.sh"
done

PORT=${RCO_POSTGRES_PORT:-5432}
DATA=/var/lib/postgresql/data

bin() { # NAME: a program of the newest installed version
    local found
    found=$(find /usr/lib/postgresql -path "*/bin/$1" | sort -V | tail -n 1)
    [ -n "$found" ] || die "PostgreSQL is not installed"
    echo "$found"
}

as_postgres() { "$CLUSTER_DIR/lib/as-postgres.sh" "$dir" "$@"; }

initialise() {
    local pool
    [ ! -s "$dir/data/PG_VERSION" ] || return 0
    mkdir -p "$dir/data"
    (umask 077 && openssl rand -hex 16 >"$dir/password")
    chown -R postgres:postgres "$dir"
    if ! as_postgres "$(bin initdb)" -D $DATA -U pulumi --pwfile /var/lib/postgresql/password \
        --auth scram-sha-256 --locale C.UTF-8 --encoding UTF8 --no-sync >"$dir/initdb.log" 2>&1; then
        cat "$dir/initdb.log" >&2
        die "initdb failed"
    fi
    # The node's network and its pods; everything else is refused.
    pool=10.199.0.0/16
    echo "host all all $pool scram-sha-256" >>"$dir/data/pg_hba.conf"
    # initdb makes no database for a user of another name.
    echo "CREATE DATABASE pulumi;" | as_postgres "$(bin postgres)" --single -D $DATA postgres \
        >>"$dir/initdb.log" 2>&1
}

accepts() { "$(bin pg_isready)" -h "$SERVICE_IP" -p "$PORT"; }

up() {
    "$CLUSTER_DIR/../deps/install.sh" cluster
    mkdir -p "$dir"
    initialise
    service_start postgres "$CLUSTER_DIR/lib/as-postgres.sh" "$dir" "$(bin postgres)" -D $DATA \
        -c "listen_addresses=$SERVICE_IP" -c "port=$PORT" -c unix_socket_directories= \
        -c fsync=off -c full_page_writes=off -c max_connections=200
    wait_until 20 "PostgreSQL" accepts ||
        daemon_fail "$SERVICE_DIR" postgres "PostgreSQL does not start"
    info
}

info() {
    [ -s "$dir/password" ] || die "PostgreSQL is not up"
    local host=postgres.rco.test
    [ "$SERVICE_IP" != 127.0.0.1 ] || host=$SERVICE_IP
    printf '%s=%s\n' address "$SERVICE_IP" port "$PORT" user pulumi \
        password_file "$dir/password" database pulumi \
        url "postgres://pulumi:$(<"$dir/password")@$host:$PORT/pulumi?sslmode=disable"
}

need_root
service_place
dir=$SERVICE_DIR/postgres
case "${1:-}" in
up) up ;;
info) info ;;
down)
    # SIGINT ends it although clients are connected; SIGTERM would wait for them.
    if daemon_alive "$SERVICE_DIR" postgres; then
        read -r pid _ <"$SERVICE_DIR/pids/postgres"
        kill -INT "$pid"
    fi
    daemon_stop "$SERVICE_DIR" postgres
    rm -rf "$dir"
    service_forget postgres
    ;;
*) die "usage: postgres.sh up | down | info" ;;
esac
