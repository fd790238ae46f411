# shellcheck shell=bash
# app-store-simulator play as a process beside this script: a line in, a line out.

PLAYER_LOG=$(log_file app-store)

# player_start ORIGINAL_TRANSACTION_ID MONTH_SECONDS NOTIFICATION_URL
player_start() {
    local command=("$BIN_FOLDER/app-store-simulator" play --roots "$STORE_FOLDER" --original-transaction-id "$1"
        --month "$2" --to "$3")
    coproc PLAYER { exec setsid "${command[@]}" 2>>"$PLAYER_LOG" 8>&- 9>&-; }
    PLAYER_PROCESS=$PLAYER_PID
    process_identity "$PLAYER_PROCESS" >"$RUN_FOLDER/4-app-store.pid" || true
    # bash closes its own two once the process has ended, whatever was not read yet.
    exec {PLAYER_INPUT}>&"${PLAYER[1]}" {PLAYER_OUTPUT}<&"${PLAYER[0]}"
    eval "exec ${PLAYER[1]}>&- ${PLAYER[0]}<&-"
}

# player_ask SECONDS COMMAND: sets PLAYER_ANSWER.
# shellcheck disable=SC2034 # life.sh reads it
player_ask() {
    PLAYER_ANSWER=''
    # Writing to one that is gone would end this script without a word.
    (trap '' PIPE && printf '%s\n' "$2" >&"$PLAYER_INPUT") 2>/dev/null || player_failed "it has ended"
    read -r -t "$1" -u "$PLAYER_OUTPUT" PLAYER_ANSWER || player_failed "no answer to $2"
}

player_failed() { service_failed "$PLAYER_LOG" "app-store-simulator play: $1"; }

# player_end: its exit status.
player_end() {
    local status=0
    exec {PLAYER_INPUT}>&-
    wait "$PLAYER_PROCESS" || status=$?
    exec {PLAYER_OUTPUT}<&-
    rm -f -- "$RUN_FOLDER/4-app-store.pid"
    return "$status"
}
