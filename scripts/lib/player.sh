# shellcheck shell=bash
# app-store-simulator play as a process beside this script: a line in, a line out.

PLAYER_LOG=$(log_file app-store)
STORE_API_LOG=$(log_file store-api)
STORE_API_KEY_ID=SIMULATED1
STORE_API_ISSUER_ID=57246542-96fe-1a63-e053-0824d011072a

# store_api_configure: STORE_API_URL, and a key for it in STORE_API_KEY_FILE.
store_api_configure() {
    STORE_API_URL="http://127.0.0.1:$STORE_API_PORT" STORE_API_KEY_FILE=$RUN_FOLDER/AuthKey.p8
    "$BIN_FOLDER/app-store-simulator" create-api-key --output "$STORE_API_KEY_FILE" >/dev/null
}

# store_api_start: app-store-simulator serve, which says what the App Store knows.
store_api_start() {
    start_process "$RUN_FOLDER/1-store-api.pid" "$STORE_API_LOG" "$BIN_FOLDER/app-store-simulator" serve \
        --roots "$STORE_FOLDER" --port "$STORE_API_PORT" --key-file "$STORE_API_KEY_FILE" \
        --key-id "$STORE_API_KEY_ID" --issuer-id "$STORE_API_ISSUER_ID"
    service_await "$RUN_FOLDER/1-store-api.pid" "$STORE_API_LOG" "app-store-simulator serve" store_api_answers
}

store_api_answers() { (exec 3<>"/dev/tcp/127.0.0.1/$STORE_API_PORT") 2>/dev/null; }

# player_start ORIGINAL_TRANSACTION_ID MONTH_SECONDS NOTIFICATION_URL
player_start() {
    local command=("$BIN_FOLDER/app-store-simulator" play --roots "$STORE_FOLDER" --original-transaction-id "$1"
        --month "$2" --to "$3" --api "$STORE_API_URL")
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
