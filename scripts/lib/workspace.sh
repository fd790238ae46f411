# shellcheck shell=bash
# The git-ignored .local folder: one folder for each running script, logs that stay, locks, and the tidying up.
#
#   .local/lock             descriptor 8, held while a script starts its parts: ports are chosen one at a time
#   .local/run.PID/lock     descriptor 9, held for as long as the script of that folder lives
#   .local/run.PID/*.pid    what it started, in order of starting
#   .local/run.PID/run.env  what to source in another shell: addresses, keys, ids (scripts/run)
#   .local/run.env          link to that of the run that became ready last, of those that are up
#   .local/run.PID/outside  link to its folder under TMPDIR (PostgreSQL's socket, and its data where it must lie there)
#   .local/log/NAME.PID.log

LOCAL_FOLDER="$PROJECT/.local"
RUN_FOLDER="$LOCAL_FOLDER/run.$$"

log_file() { printf '%s/log/%s.%s.log' "$LOCAL_FOLDER" "$1" "$$"; }

workspace_open() {
    # Settings meant for another PostgreSQL would be used by every client started here.
    unset "${!PG@}"
    export HOME="${HOME:-$(echo ~)}"
    umask 022
    mkdir -p -- "$LOCAL_FOLDER/log" 2>/dev/null && [ -w "$LOCAL_FOLDER" ] ||
        die "cannot write to $LOCAL_FOLDER: does the checkout belong to another user?"
    trap workspace_close EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
    trap 'exit 141' PIPE
    workspace_lock
    workspace_sweep
    find "$LOCAL_FOLDER/log" -name '*.log' -mtime +7 -delete
    mkdir -- "$RUN_FOLDER"
    exec 9>"$RUN_FOLDER/lock"
    flock -n 9
    workspace_unlock
}

# Waiting is done in short tries, so that a signal is handled meanwhile.
workspace_lock() {
    exec 8>"$LOCAL_FOLDER/lock"
    until flock -n 8; do pause 0.2; done
}

workspace_unlock() { exec 8>&-; }

# Whatever a killed script left behind: its lock is free, its processes are still the very ones that it recorded.
workspace_sweep() {
    local folder
    for folder in "$LOCAL_FOLDER"/run.*; do
        [ -d "$folder" ] || continue
        (
            { exec 9>>"$folder/lock"; } 2>/dev/null && flock -n 9 || exit 0
            say "tidying up after an earlier run that was killed (${folder##*/})"
            stop_all "$folder"
            workspace_remove "$folder"
        ) || true
    done
}

# workspace_outside [FOLDER]: a short private path in that folder, for sockets (107 bytes at most) and for data that cannot lie in the
# checkout.
workspace_outside() {
    local base=${1:-${TMPDIR:-/tmp}}
    [ "${#base}" -le 60 ] || base=/tmp
    OUTSIDE_FOLDER=$(mktemp -d -- "$base/receipt-relay.XXXXXXXX")
    ln -s -- "$OUTSIDE_FOLDER" "$RUN_FOLDER/outside"
}

# workspace_link: .local/run.env leads to the newest run.env of a run that is still up.
workspace_link() {
    local file newest=''
    for file in "$LOCAL_FOLDER"/run.*/run.env; do
        [ -e "$file" ] && ! flock -n "${file%/*}/lock" true || continue
        [ -n "$newest" ] && [ "$newest" -nt "$file" ] || newest=$file
    done
    if [ -n "$newest" ]; then
        ln -sfn -- "${newest#"$LOCAL_FOLDER/"}" "$LOCAL_FOLDER/run.env"
    else
        rm -f -- "$LOCAL_FOLDER/run.env"
    fi
}

# workspace_offer NAME VALUE…: a file to source with these variables, for this user alone and as long as this run lives.
workspace_offer() {
    (
        umask 077
        while [ "$#" -gt 1 ]; do
            printf 'export %s=%q\n' "$1" "$2"
            shift 2
        done >"$RUN_FOLDER/run.env"
    )
    workspace_link
}

workspace_remove() {
    local outside
    outside=$(readlink -- "$1/outside" 2>/dev/null || true)
    case "$outside" in
    */receipt-relay.????????) [ -L "$outside" ] || rm -rf -- "$outside" ;;
    esac
    rm -rf -- "$1"
    workspace_link
}

workspace_close() {
    local status=$?
    set +e
    # Else the shell reports the death of each.
    disown -a
    trap '' PIPE HUP
    trap 'IMPATIENT=1' INT TERM
    [ -z "${PAUSE_PID:-}" ] || kill "$PAUSE_PID" 2>/dev/null
    if [ -d "$RUN_FOLDER" ]; then
        stop_all "$RUN_FOLDER"
        workspace_remove "$RUN_FOLDER"
    fi
    exit "$status"
}
