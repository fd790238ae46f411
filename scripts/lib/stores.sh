# shellcheck shell=bash
# The stand-ins for Google Play and the Amazon Appstore.

GOOGLE_LOG=$(log_file google)
AMAZON_LOG=$(log_file amazon)
AMAZON_SECRET=2:made-up

# stores_configure: the settings that point a relay at them, in STORES_SETTINGS.
stores_configure() {
    GOOGLE_URL="http://127.0.0.1:$GOOGLE_PORT" AMAZON_URL="http://127.0.0.1:$AMAZON_PORT"
    GOOGLE_ACCOUNT=$RUN_FOLDER/service-account.json
    "$BIN_FOLDER/store-simulator" google create-service-account --out "$GOOGLE_ACCOUNT" --token-uri "$GOOGLE_URL/token" >/dev/null
    # shellcheck disable=SC2034 # service_configure gets them
    STORES_SETTINGS=("RELAY_GOOGLE_SERVICE_ACCOUNT_FILE=$GOOGLE_ACCOUNT" "RELAY_GOOGLE_API_URL=$GOOGLE_URL"
        "RELAY_GOOGLE_TOKEN_URL=$GOOGLE_URL/token" "RELAY_AMAZON_SHARED_SECRET=$AMAZON_SECRET" "RELAY_AMAZON_RVS_URL=$AMAZON_URL")
}

stores_start() {
    start_process "$RUN_FOLDER/2-google.pid" "$GOOGLE_LOG" "$BIN_FOLDER/store-simulator" google \
        --service-account "$GOOGLE_ACCOUNT" --port "$GOOGLE_PORT"
    start_process "$RUN_FOLDER/2-amazon.pid" "$AMAZON_LOG" "$BIN_FOLDER/store-simulator" amazon \
        --shared-secret "$AMAZON_SECRET" --port "$AMAZON_PORT"
    service_await "$RUN_FOLDER/2-google.pid" "$GOOGLE_LOG" "store-simulator google" store_answers "$GOOGLE_PORT"
    service_await "$RUN_FOLDER/2-amazon.pid" "$AMAZON_LOG" "store-simulator amazon" store_answers "$AMAZON_PORT"
}

store_answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
