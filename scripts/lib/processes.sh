# shellcheck shell=bash
# Starting and stopping processes. Each runs in a session of its own, so that Ctrl-C at the terminal reaches this script
# alone, which then stops them in order.

# A process id is used again after a while; with the moment of its start and the boot it names one process for ever.
process_identity() {
    local stat boot
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    { read -r boot </proc/sys/kernel/random/boot_id; } 2>/dev/null || boot=unknown
    # The name, in parentheses, may hold anything; the fields proper begin behind it, the start time is the 20th.
    read -r -a stat <<<"${stat##*) }"
    [ "${stat[0]}" != Z ] || return 1
    printf '%s %s %s\n' "$1" "${stat[19]}" "$boot"
}

# process_alive PID_FILE
process_alive() {
    local recorded
    { read -r recorded <"$1"; } 2>/dev/null || return 1
    [ "$(process_identity "${recorded%% *}")" = "$recorded" ]
}

# start_process PID_FILE LOG COMMAND…: descriptors 8 and 9 are this script's locks, not the child's.
start_process() {
    local pid_file=$1 log=$2
    shift 2
    setsid "$@" </dev/null >>"$log" 2>&1 8>&- 9>&- &
    process_identity "$!" >"$pid_file" || true
}

# await_end PID_FILE SECONDS
await_end() {
    local ticks=$(($2 * 20))
    while process_alive "$1"; do
        ticks=$((ticks - 1))
        [ "$ticks" -gt 0 ] && [ -z "${IMPATIENT:-}" ] || return 1
        sleep 0.05
    done
}

# A child that has not yet got as far as its own session is reached by its id alone.
signal_session() { kill -s "$1" -- "-$2" 2>/dev/null || kill -s "$1" "$2" 2>/dev/null; }

# stop_process PID_FILE [SIGNAL SECONDS]…: each signal goes to the whole session and gets its seconds; then, or when the
# person at the terminal is impatient, comes KILL.
stop_process() {
    local pid_file=$1 pid
    shift
    { read -r pid _ <"$pid_file"; } 2>/dev/null || return 0
    while [ "$#" -ge 2 ] && [ -z "${IMPATIENT:-}" ] && process_alive "$pid_file"; do
        signal_session "$1" "$pid" || break
        await_end "$pid_file" "$2" && break
        shift 2
    done
    if process_alive "$pid_file"; then
        signal_session KILL "$pid" || return 1
        IMPATIENT='' await_end "$pid_file" 5 || return 1
    fi
    rm -f -- "$pid_file"
}

# stop_all FOLDER: every process recorded in the folder, the last started first; the names are in order of starting.
stop_all() {
    local pid_file i pid_files=("$1"/*.pid)
    for ((i = ${#pid_files[@]} - 1; i >= 0; i--)); do
        pid_file=${pid_files[i]}
        case "$pid_file" in
        */*-postgres.pid) stop_process "$pid_file" INT 5 QUIT 2 ;;
        */*-relay.pid) stop_process "$pid_file" TERM 12 ;;
        *) stop_process "$pid_file" TERM 4 ;;
        esac || warn "could not stop the process in $pid_file"
    done
}

# run_in_session COMMAND…: in the foreground for the reader, in a session of its own for the signals, so that a trap
# runs at once and the command can be ended with all its children. SESSION distinguishes several at once.
run_in_session() {
    local status=0 pid_file="$RUN_FOLDER/${SESSION:-9-foreground}.pid"
    setsid "$@" 8>&- 9>&- &
    process_identity "$!" >"$pid_file" || true
    wait "$!" || status=$?
    rm -f -- "$pid_file"
    return "$status"
}

# pause SECONDS: like sleep, but a signal ends it at once.
pause() {
    sleep "$1" 8>&- 9>&- &
    PAUSE_PID=$!
    wait "$PAUSE_PID" || true
    PAUSE_PID=''
}
