# shellcheck shell=bash
# The stand-ins for Google Play, the Amazon Appstore and Roku Pay.

GOOGLE_LOG=$(log_file google)
AMAZON_LOG=$(log_file amazon)
AMAZON_SECRET=2:made-up
ROKU_LOG=$(log_file roku)
ROKU_KEY=0123456789abcdef0123456789abcdef0123

# google_configure: GOOGLE_SETTINGS are the settings that point a relay at it.
google_configure() {
    GOOGLE_URL="http://127.0.0.1:$GOOGLE_PORT" GOOGLE_ACCOUNT=$RUN_FOLDER/service-account.json
    "$BIN_FOLDER/store-simulator" google create-service-account --out "$GOOGLE_ACCOUNT" --token-uri "$GOOGLE_URL/token" >/dev/null
    GOOGLE_SETTINGS=("RELAY_GOOGLE_SERVICE_ACCOUNT_FILE=$GOOGLE_ACCOUNT" "RELAY_GOOGLE_API_URL=$GOOGLE_URL"
        "RELAY_GOOGLE_TOKEN_URL=$GOOGLE_URL/token")
}

google_start() {
    start_process "$RUN_FOLDER/2-google.pid" "$GOOGLE_LOG" "$BIN_FOLDER/store-simulator" google \
        --service-account "$GOOGLE_ACCOUNT" --port "$GOOGLE_PORT"
    service_await "$RUN_FOLDER/2-google.pid" "$GOOGLE_LOG" "store-simulator google" store_answers "$GOOGLE_PORT"
}

# amazon_configure: AMAZON_SETTINGS are the settings that point a relay at it.
amazon_configure() {
    AMAZON_URL="http://127.0.0.1:$AMAZON_PORT" AMAZON_CERTIFICATE=$RUN_FOLDER/sns.pem
    AMAZON_SETTINGS=("RELAY_AMAZON_SHARED_SECRET=$AMAZON_SECRET" "RELAY_AMAZON_RVS_URL=$AMAZON_URL")
}

amazon_start() {
    start_process "$RUN_FOLDER/2-amazon.pid" "$AMAZON_LOG" "$BIN_FOLDER/store-simulator" amazon \
        --shared-secret "$AMAZON_SECRET" --port "$AMAZON_PORT" --certificate-out "$AMAZON_CERTIFICATE"
    service_await "$RUN_FOLDER/2-amazon.pid" "$AMAZON_LOG" "store-simulator amazon" store_answers "$AMAZON_PORT"
}

# roku_configure: ROKU_SETTINGS are the settings that point a relay at it.
roku_configure() {
    ROKU_URL="http://127.0.0.1:$ROKU_PORT"
    ROKU_SETTINGS=("RELAY_ROKU_API_KEY=$ROKU_KEY" "RELAY_ROKU_API_URL=$ROKU_URL" "RELAY_ROKU_JWKS_URL=$ROKU_URL/keys/partner-jwks.json")
}

roku_start() {
    start_process "$RUN_FOLDER/2-roku.pid" "$ROKU_LOG" "$BIN_FOLDER/store-simulator" roku \
        --api-key "$ROKU_KEY" --port "$ROKU_PORT"
    service_await "$RUN_FOLDER/2-roku.pid" "$ROKU_LOG" "store-simulator roku" store_answers "$ROKU_PORT"
}

# stores_configure: the settings that point a relay at all of them, in STORES_SETTINGS.
stores_configure() {
    google_configure
    amazon_configure
    roku_configure
    # shellcheck disable=SC2034 # service_configure gets them
    STORES_SETTINGS=("${GOOGLE_SETTINGS[@]}" "${AMAZON_SETTINGS[@]}" "${ROKU_SETTINGS[@]}")
}

stores_start() {
    google_start
    amazon_start
    roku_start
}

store_answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# store_control URL LOG METHOD PATH [JSON]: of a stand-in's control API; its answer is in HTTP_BODY.
store_control() {
    local body=''
    [ -z "${5:-}" ] || body=$RUN_FOLDER/control.json
    [ -z "$body" ] || printf '%s' "$5" >"$body"
    http_call "$3" "$1/control/$4" '' "$body" || service_failed "$2" "no answer to $3 /control/$4"
    [[ "$HTTP_STATUS" == 2* ]] || service_failed "$2" "$3 /control/$4 was answered $HTTP_STATUS $(http_problem)"
}
