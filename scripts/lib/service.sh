# shellcheck shell=bash
# The relay and the stand-in for Cleeng, over the private cluster.

SERVICE_LOG=$(log_file relay)
SIMULATOR_LOG=$(log_file simulator)
SIMULATOR_NOTIFICATION_PATH='/1.0/in_app/subscriptions/apple/status_update_notification/{publisherId}'

# service_configure [SETTING=VALUE…]: settings of the caller's shell reach the relay, save those that this script sets and
# those that are no settings.
service_configure() {
    CLEENG_TOKEN=$(od -An -N 16 -tx1 /dev/urandom | tr -d ' \n')
    SIMULATOR_URL="http://127.0.0.1:$SIMULATOR_PORT"
    SIMULATOR_COMMAND=("$BIN_FOLDER/cleeng-simulator" --host 127.0.0.1 --port "$SIMULATOR_PORT"
        --publisher-token "$CLEENG_TOKEN")
    RELAY_COMMAND=(env -u RELAY_BIN_DIR -u RELAY_RUN_CONFIGURATION -u RELAY_WARNINGS_AS_ERRORS -u RELAY_WITHOUT
        -u RELAY_TEST_DATABASE_URL -u RELAY_DATABASE_URL_FILE -u RELAY_CLEENG_PUBLISHER_TOKEN_FILE
        "RELAY_DATABASE_URL=$(cluster_url receipt_relay)"
        "RELAY_HTTP_HOST=${RELAY_HTTP_HOST:-127.0.0.1}" "RELAY_HTTP_PORT=$HTTP_PORT"
        "RELAY_OPS_HOST=127.0.0.1" "RELAY_OPS_PORT=$OPS_PORT"
        "RELAY_CLEENG_PUBLISHER_TOKEN=$CLEENG_TOKEN" "RELAY_CLEENG_PAYMENT_URL=$SIMULATOR_URL"
        "RELAY_CLEENG_API_URL=$SIMULATOR_URL" "RELAY_CLEENG_STOREKIT2_URL=$SIMULATOR_URL"
        "RELAY_CLEENG_PUBLISHER_ID=${RELAY_CLEENG_PUBLISHER_ID:-123456789}"
        "RELAY_CLEENG_NOTIFICATION_URL=$SIMULATOR_URL$SIMULATOR_NOTIFICATION_PATH"
        "RELAY_APPLE_EXTRA_ROOTS=${RELAY_APPLE_EXTRA_ROOTS:-$STORE_ROOTS}" "$@"
        "$BIN_FOLDER/receipt-relay")
}

service_failed() {
    show_log_tail "$1"
    die "$2"
}

# service_await PID_FILE LOG NAME COMMAND…: until the command succeeds.
service_await() {
    local pid_file=$1 log=$2 name=$3 ticks=300
    shift 3
    until "$@" >/dev/null 2>&1; do
        process_alive "$pid_file" || service_failed "$log" "$name ended at its start"
        ticks=$((ticks - 1))
        [ "$ticks" -gt 0 ] || service_failed "$log" "$name was not ready within 30 seconds"
        pause 0.1
    done
}

simulator_answers() { (exec 3<>"/dev/tcp/127.0.0.1/$SIMULATOR_PORT") 2>/dev/null; }
service_answers() { http_call GET "http://127.0.0.1:$OPS_PORT/readyz" && [ "$HTTP_STATUS" = 200 ]; }

simulator_start() {
    start_process "$RUN_FOLDER/2-simulator.pid" "$SIMULATOR_LOG" "${SIMULATOR_COMMAND[@]}"
    service_await "$RUN_FOLDER/2-simulator.pid" "$SIMULATOR_LOG" cleeng-simulator simulator_answers
}

service_migrate() {
    "$CLUSTER_PROGRAMS/createdb" -h 127.0.0.1 -p "$CLUSTER_PORT" -U "$CLUSTER_USER" receipt_relay
    run_in_session "${RELAY_COMMAND[@]}" migrate up >>"$SERVICE_LOG" 2>&1 ||
        service_failed "$SERVICE_LOG" "receipt-relay migrate up failed"
}

service_start() {
    start_process "$RUN_FOLDER/3-relay.pid" "$SERVICE_LOG" "${RELAY_COMMAND[@]}" serve
    service_await "$RUN_FOLDER/3-relay.pid" "$SERVICE_LOG" "receipt-relay serve" service_answers
}

# service_make_key VARIABLE ROLE: `keys create` prints the key alone. Ops keys see every publisher.
service_make_key() {
    local key publisher=main
    case "$2" in ops-*) publisher=all ;; esac
    key=$("${RELAY_COMMAND[@]}" keys create --role "$2" --name "demo-$2" --publisher "$publisher" 2>>"$SERVICE_LOG" 8>&- 9>&-) &&
        [ -n "$key" ] || service_failed "$SERVICE_LOG" "receipt-relay keys create --role $2 failed"
    printf -v "$1" '%s' "$key"
}

service_all_alive() {
    local pid_file name
    for pid_file in "$RUN_FOLDER"/[123]-*.pid; do
        process_alive "$pid_file" && continue
        name=${pid_file##*/[123]-}
        name=${name%.pid}
        show_log_tail "$(log_file "$name")"
        complain "the $name process has ended by itself"
        return 1
    done
}
