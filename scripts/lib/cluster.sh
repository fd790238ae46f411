# shellcheck shell=bash
# A private PostgreSQL cluster: its own data, port and socket, trust on loopback only, gone when the script ends.

CLUSTER_OLDEST_VERSION=15
CLUSTER_USER=relay

# Sets CLUSTER_PROGRAMS to the folder of the newest usable PostgreSQL.
cluster_find_programs() {
    local folder on_path version best=0
    CLUSTER_PROGRAMS=''
    on_path=$(command -v initdb || true)
    for folder in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin "${on_path%/initdb}"; do
        [ -x "$folder/initdb" ] && [ -x "$folder/postgres" ] && [ -x "$folder/pg_isready" ] || continue
        version=$("$folder/initdb" --version | sed -n 's/^initdb (PostgreSQL) \([0-9]*\).*/\1/p')
        if [ "${version:-0}" -ge "$CLUSTER_OLDEST_VERSION" ] && [ "$version" -gt "$best" ]; then
            best=$version CLUSTER_PROGRAMS=$folder
        fi
    done
    [ -n "$CLUSTER_PROGRAMS" ]
}

# PostgreSQL refuses to run as root; CLUSTER_AS is the prefix of the commands that become somebody else.
cluster_find_account() {
    local account
    CLUSTER_AS=()
    [ "$(id -u)" -eq 0 ] || return 0
    for account in postgres nobody; do
        if id -u "$account" >/dev/null 2>&1; then
            CLUSTER_ACCOUNT=$account
            CLUSTER_AS=(setpriv "--reuid=$account" "--regid=$(id -g "$account")" --clear-groups)
            return 0
        fi
    done
    die "PostgreSQL cannot run as root, and there is no account named postgres or nobody"
}

# Sets CLUSTER_MEMORY to a folder in memory with two gigabytes at least, and to none where there is none. A cluster of which nothing outlives
# the run is made there: a database for each test is seven hundred files, which cost more on a disk than what the test does.
cluster_find_memory() {
    local free
    free=$(df --output=avail -k -t tmpfs /dev/shm 2>/dev/null | tail -n 1)
    CLUSTER_MEMORY=''
    [ "${free:-0}" -lt 2097152 ] || [ ! -w /dev/shm ] || CLUSTER_MEMORY=/dev/shm
}

# The data lie in memory (cluster_find_memory), or beside the other things of this run, unless that account cannot get there.
cluster_make_folders() {
    workspace_outside "${CLUSTER_MEMORY:-}"
    CLUSTER_DATA="${CLUSTER_MEMORY:+$OUTSIDE_FOLDER/postgres}"
    CLUSTER_DATA=${CLUSTER_DATA:-$RUN_FOLDER/postgres}
    if [ "${#CLUSTER_AS[@]}" -gt 0 ]; then
        "${CLUSTER_AS[@]}" test -x "$RUN_FOLDER" || CLUSTER_DATA="$OUTSIDE_FOLDER/postgres"
        chmod 711 -- "$OUTSIDE_FOLDER"
    fi
    mkdir -m 700 -- "$CLUSTER_DATA" "$OUTSIDE_FOLDER/socket"
    if [ "${#CLUSTER_AS[@]}" -gt 0 ]; then
        chown "$CLUSTER_ACCOUNT" -- "$CLUSTER_DATA" "$OUTSIDE_FOLDER/socket"
        "${CLUSTER_AS[@]}" test -w "$OUTSIDE_FOLDER/socket" ||
            die "the account $CLUSTER_ACCOUNT cannot reach ${OUTSIDE_FOLDER%/*}; set TMPDIR to a folder that it can"
    fi
}

# Sets CLUSTER_COUNTING to the settings by which statements can be counted (pg_stat_statements) by whoever asks for it, and
# to none where the extension is not installed.
cluster_find_counting() {
    local libraries
    libraries=$("$CLUSTER_PROGRAMS/pg_config" --pkglibdir 2>/dev/null || echo "${CLUSTER_PROGRAMS%/bin}/lib")
    CLUSTER_COUNTING=()
    [ ! -e "$libraries/pg_stat_statements.so" ] ||
        CLUSTER_COUNTING=("shared_preload_libraries = 'pg_stat_statements'" 'pg_stat_statements.track = none')
}

# cluster_start [SETTING=VALUE…]: sets CLUSTER_PORT; needs the start lock.
cluster_start() {
    local log tries=5
    log=$(log_file postgres)
    cluster_find_account
    cluster_make_folders
    (cd / && "${CLUSTER_AS[@]}" "$CLUSTER_PROGRAMS/initdb" -D "$CLUSTER_DATA" -U "$CLUSTER_USER" \
        --auth=trust --no-sync --locale=C.UTF-8 -E UTF8) >"$log" 2>&1 || cluster_failed "$log" "PostgreSQL could not make a cluster"
    printf '%s\n' "listen_addresses = '127.0.0.1'" "unix_socket_directories = '$OUTSIDE_FOLDER/socket'" \
        "timezone = 'UTC'" "log_timezone = 'UTC'" "$@" >>"$CLUSTER_DATA/postgresql.conf"
    # Another program may take the port between the choice and the start.
    until port_random CLUSTER_PORT && cluster_try_port "$log"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] && tail -n 5 -- "$log" | grep -q 'could not create any TCP/IP sockets' ||
            cluster_failed "$log" "PostgreSQL did not start"
    done
}

cluster_try_port() {
    start_process "$RUN_FOLDER/1-postgres.pid" "$1" \
        env -C / "${CLUSTER_AS[@]}" "$CLUSTER_PROGRAMS/postgres" -D "$CLUSTER_DATA" -p "$CLUSTER_PORT"
    local ticks=600
    until "$CLUSTER_PROGRAMS/pg_isready" -q -h 127.0.0.1 -p "$CLUSTER_PORT" -U "$CLUSTER_USER" -d postgres; do
        ticks=$((ticks - 1))
        process_alive "$RUN_FOLDER/1-postgres.pid" && [ "$ticks" -gt 0 ] || return 1
        pause 0.1
    done
    process_alive "$RUN_FOLDER/1-postgres.pid"
}

cluster_failed() {
    show_log_tail "$1"
    die "$2"
}

# cluster_url DATABASE
cluster_url() { printf 'postgresql://%s@127.0.0.1:%s/%s' "$CLUSTER_USER" "$CLUSTER_PORT" "$1"; }
