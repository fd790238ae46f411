# shellcheck shell=bash
# schemathesis, and what it is given to find.

SCHEMATHESIS_FOLDER="$LOCAL_FOLDER/schemathesis"
SCHEMATHESIS_LIB="$PROJECT/scripts/lib"
# schemathesis reads it from its own folder, where the ids of what was made stand beside it.
SEED_FOLDER="$RUN_FOLDER/check-api"

# seed_post WHAT STATUS KEY_FILE URL [BODY]: dies where the answer is another one.
seed_post() {
    local body="$RUN_FOLDER/seed.json"
    printf '%s' "${5:-"{}"}" >"$body"
    http_call POST "$4" "$3" "$body" && [ "$HTTP_STATUS" = "$2" ] || die "$1: status ${HTTP_STATUS:-none}: $(http_problem)"
}

# seed_keep NAME VALUE: one more that requests may name (check-api.toml).
seed_keep() {
    [ -n "$2" ] || die "there is no $1 in the answer"
    printf '"%s"\n' "$2" >>"$SEED_FOLDER/$1"
}

# schemathesis_offers: before the service starts, which has them in memory for five seconds.
schemathesis_offers() {
    # Neither the product nor the coupon that purchases name: both are warned of.
    printf '%s' '{"offers":[{"offerId":"S123456789_US","products":["com.example.another"],"coupons":["SUMMER"]}]}' >"$RUN_FOLDER/offers.json"
    "${RELAY_COMMAND[@]}" offers import "$RUN_FOLDER/offers.json" >/dev/null 2>>"$SERVICE_LOG" 8>&- 9>&- ||
        service_failed "$SERVICE_LOG" "receipt-relay offers import failed"
}

# schemathesis_seed FRONT APP_KEY PUBLISHER_KEY OPS OPERATOR_KEY: of each thing that has an id at least one; sets SEED_TOKEN.
schemathesis_seed() {
    local front=$1 app operator billing transaction jws subscription order
    mkdir -p -- "$SEED_FOLDER"
    cp -- "$SCHEMATHESIS_LIB/check-api.toml" "$SCHEMATHESIS_LIB/check_api_hooks.py" "$SEED_FOLDER"
    app=$(http_key_file app "$2")
    operator=$(http_key_file operator "$5")
    # Nothing is there: the messages stay.
    "${RELAY_COMMAND[@]}" webhooks add --url "$SIMULATOR_URL/nowhere" >/dev/null 2>>"$SERVICE_LOG" 8>&- 9>&- ||
        service_failed "$SERVICE_LOG" "receipt-relay webhooks add failed"

    transaction=$(purchase_random_id)
    jws="$RUN_FOLDER/seed.jws"
    purchase_signed_transaction "$transaction" | tr -d '\n' >"$jws"
    seed_keep transaction "$transaction"
    seed_keep receipt "$(cat -- "$jws")"
    seed_purchase "$front" "$app" ana+after-0@example.test "$transaction" "$jws"
    seed_await "a grant" status granted "$front/entitlements/$SEED_VALIDATION" "$app"
    # Of these an operator can have one sent again, and give one up.
    seed_purchase "$front" "$app" ben+never@example.test "$(purchase_random_id)" "$jws"
    seed_purchase "$front" "$app" cem+reject@example.test "$(purchase_random_id)" "$jws"
    seed_await "a message" items.0.applicationUsername ana "$4/ops/webhooks" "$operator"
    seed_keep delivery "$(json_value "$HTTP_BODY" items.0.id)"

    seed_token "$front" "$3"
    billing=$(http_key_file billing "$SEED_TOKEN")
    seed_check "$front" "$billing" "$jws"
    subscription=$(json_value "$HTTP_BODY" Subscriptions.0.Id)
    seed_post "an order" 201 "$billing" "$front/api/v1/Orders" "{\"ExternalSubscriptionId\":\"$subscription\",\"Customer\":{\"LastName\":\"A\"}}"
    order=$(json_value "$HTTP_BODY" Id)
    seed_post "a commit" 200 "$billing" "$front/api/v1/Orders/$order/commit"
    # One more, which nobody has ordered yet.
    purchase_signed_transaction "$(purchase_random_id)" | tr -d '\n' >"$jws.2"
    seed_check "$front" "$billing" "$jws.2"
    seed_keep subscription "$(json_value "$HTTP_BODY" Subscriptions.0.Id)"

    "$BIN_FOLDER/app-store-simulator" sign-notification --roots "$STORE_FOLDER" --type DID_RENEW \
        --original-transaction-id "$transaction" >"$RUN_FOLDER/notification.json"
    seed_keep notification "$(json_value "$RUN_FOLDER/notification.json" signedPayload)"
    seed_post "a notification" 200 '' "$front/apple/notifications" "$(cat -- "$RUN_FOLDER/notification.json")"
    say "a purchase that was granted, a message about it, an order and its contract, a notification"
}

# seed_purchase FRONT KEY_FILE EMAIL TRANSACTION RECEIPT_FILE: sets SEED_VALIDATION.
seed_purchase() {
    local username=${3%%+*}
    seed_post "a purchase" 202 "$2" "$1/apple/payment" \
        "{\"customerEmail\":\"$3\",\"offerId\":\"S123456789_US\",\"applicationUsername\":\"$username\",\"couponCode\":\"WINTER\",
          \"receipt\":{\"transactionId\":\"$4\",\"receiptData\":\"$(cat -- "$5")\"}}"
    SEED_VALIDATION=$(json_value "$HTTP_BODY" validationId)
    case "$(json_value "$HTTP_BODY" warnings.0.field) $(json_value "$HTTP_BODY" warnings.1.field)" in
    "offerId couponCode" | "couponCode offerId") ;;
    *) die "a purchase of another product with another coupon is not warned of" ;;
    esac
    seed_keep validation "$SEED_VALIDATION"
}

# seed_check FRONT KEY_FILE RECEIPT_FILE
seed_check() {
    seed_post "a check" 200 "$2" "$1/api/v1/ExternalSubscriptions/check" \
        "{\"Type\":\"AppleIap\",\"AppleIapReceipt\":\"$(cat -- "$3")\"}"
}

# seed_token FRONT PUBLISHER_KEY
seed_token() {
    local form="$RUN_FOLDER/seed.form"
    (umask 077 && printf 'grant_type=client_credentials&client_id=main&client_secret=%s' "$2" >"$form")
    curl -q --silent --noproxy '*' --max-time 30 --data "@$form" --output "$HTTP_BODY" --url "$1/oauth/token" 8>&- 9>&- ||
        die "no answer from /oauth/token"
    SEED_TOKEN=$(json_value "$HTTP_BODY" access_token)
    [ -n "$SEED_TOKEN" ] || die "no access token: $(http_problem)"
}

# seed_await WHAT PATH VALUE URL KEY_FILE: until the answer has that value there.
seed_await() {
    local ticks=100
    until http_call GET "$4" "$5" && [ "$(json_value "$HTTP_BODY" "$2")" = "$3" ]; do
        ticks=$((ticks - 1))
        [ "$ticks" -gt 0 ] || die "$1 did not come"
        pause 0.1
    done
}

# schemathesis_run GROUP EXAMPLES SEED OPERATION URL KEY TOKEN TAG…
schemathesis_run() {
    local group=$1 examples=$2 seed=$3 operation=$4 url=$5 key=$6 token=$7 log status=0 options=()
    shift 7
    log=$(log_file "check-api-$group")
    while [ "$#" -gt 0 ]; do
        options+=(--include-tag "$1")
        shift
    done
    [ -z "$operation" ] || options=(--include-operation-id "$operation")
    # Credentials travel in the environment; no proxy stands before this machine's own addresses.
    CHECK_API_KEY=$key CHECK_API_TOKEN=$token CHECK_API_PAIR=$(printf 'main:%s' "$key" | base64 -w 0) NO_PROXY='*' no_proxy='*' \
        run_in_session env -C "$SEED_FOLDER" "$SCHEMATHESIS_FOLDER/bin/schemathesis" --config-file check-api.toml run \
        "$PROJECT/openapi.yaml" --url "$url" --max-examples "$examples" --seed "$seed" --generation-database none \
        "${options[@]}" >"$log" 2>&1 || status=$?
    sed -n '/^=* SUMMARY =*$/,$p' "$log" | sed '1d; /^ *$/d; s/^/    /'
    [ "$status" -eq 0 ] || show_log_tail "$log"
    return "$status"
}

# schemathesis_log_fits: nothing that the relay calls an error was written meanwhile.
schemathesis_log_fits() {
    ! grep -E '"level":"(error|critical)"' "$SERVICE_LOG" >&2
}

# client_check FRONT APP_KEY OPS OPERATOR_KEY: a client that is generated of openapi.yaml works.
client_check() {
    local log receipt="$RUN_FOLDER/client-receipt" folder="$RUN_FOLDER/client" id
    log=$(log_file check-api-client)
    id=$(purchase_random_id)
    purchase_signed_transaction "$id" >"$receipt"
    # It formats what it made with ruff, which stands beside it.
    if run_in_session env "PATH=$SCHEMATHESIS_FOLDER/bin:$PATH" "$SCHEMATHESIS_FOLDER/bin/openapi-python-client" generate --fail-on-warning \
        --path "$PROJECT/openapi.yaml" --output-path "$folder" >"$log" 2>&1 &&
        NO_PROXY='*' no_proxy='*' run_in_session env "PYTHONPATH=$folder" "$SCHEMATHESIS_FOLDER/bin/python" \
            "$SCHEMATHESIS_LIB/check_client.py" "$1" "$2" "$3" "$4" "$id" "$receipt" >>"$log" 2>&1; then
        say "one purchase, one poll and one list by a generated client"
        return 0
    fi
    show_log_tail "$log"
    return 1
}
