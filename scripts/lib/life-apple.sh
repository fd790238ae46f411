# shellcheck shell=bash
# shellcheck disable=SC2034 # life.sh and scripts/run read what is set here
# The life of one subscription of the App Store, on a clock that is sped up. Each step is something that the App Store
# tells, or an app posts; what the app, ops and Cleeng know after it is shown and held against what it should be.

LIFE_MONTHLY=com.example.app.monthly
LIFE_YEARLY=com.example.app.yearly
LIFE_YEARLY_OFFER=S987654321_US
LIFE_SECRET=the-shared-secret-of-version-1
LIFE_ANA=ana@example.test
LIFE_BEN=ben@example.test

# Months are short here, and the App Store can be asked.
life_prepare() {
    LIFE_MONTH=$1 LIFE_PATIENCE=$(($1 + 20))
    port_choose STORE_API_PORT 8091 "the stand-in for the App Store's API"
    store_api_configure
    LIFE_SETTINGS=("RELAY_APPLE_VERIFICATION=${RELAY_APPLE_VERIFICATION:-enforce}"
        "RELAY_APPLE_RENEWAL_LEEWAY_SECONDS=${RELAY_APPLE_RENEWAL_LEEWAY_SECONDS:-2}"
        "RELAY_POLL_INTERVAL_SECONDS=${RELAY_POLL_INTERVAL_SECONDS:-1}"
        "RELAY_APPLE_BUNDLE_IDS=com.example.app" "RELAY_APPLE_ENVIRONMENTS=Sandbox"
        "RELAY_APPLE_API_KEY_FILE=$STORE_API_KEY_FILE" "RELAY_APPLE_API_KEY_ID=$STORE_API_KEY_ID"
        "RELAY_APPLE_API_ISSUER_ID=$STORE_API_ISSUER_ID" "RELAY_APPLE_API_SANDBOX_URL=$STORE_API_URL"
        "RELAY_APPLE_HISTORY_INTERVAL_SECONDS=1" "RELAY_APPLE_SHARED_SECRET=$LIFE_SECRET")
}

life_start() { store_api_start; }

life_catalogue() {
    life_sell "$1" "$LIFE_MONTHLY"
    life_sell "$LIFE_YEARLY_OFFER" "$LIFE_YEARLY"
}

# life_play OFFER ORIGINAL_TRANSACTION_ID: ends the script with 1 where a step does not come out.
life_play() {
    LIFE_OFFER=$1 LIFE_SUBSCRIPTION=$2
    LIFE_TRANSACTION=$RUN_FOLDER/transaction.txt
    LIFE_NOTIFICATIONS=0
    player_start "$LIFE_SUBSCRIPTION" "$LIFE_MONTH" "$LIFE_FRONT/apple/notifications"
    life_step "Ana buys a month, and the app posts the signed transaction" life_buy
    life_step "The month is over, and the next one is paid" life_renew
    life_step "The payment after that fails: there is a time of grace" life_fail
    life_step "The grace is over, and it is not paid" life_end_grace
    life_step "It is paid at last" life_recover
    life_step "Ana moves up to the yearly product: the monthly offer is over at once" life_upgrade
    life_step "Ben posts the same subscription: it is his from now on" life_transfer
    life_step "It renews for Ben, and Apple refunds that" life_refund
    life_step "Apple takes the refund back" life_reverse_refund
    life_step "It renews, and Ben turns renewal off" life_turn_off
    life_step "Its time is over" life_expire
    life_step "Ben buys it again" life_resubscribe
    life_step "Ben moves down to the monthly product: until the renewal the yearly offer is his" life_downgrade
    life_step "It renews as the monthly product" life_renew_cheaper
    life_step "Of the next payment the App Store's word is lost: the relay asks for what it missed" life_miss
    life_step "Nobody tells of the one after that: the relay asks the App Store, where it has ended" life_look_up
    life_step "Cleeng has received every notification" life_count
    player_end || player_failed "it ended with $?"
    step "Its life as ops sees it (GET /ops/subscriptions?originalTransactionId=$LIFE_SUBSCRIPTION)"
    life_timeline
    life_step "Cleo has a pass until Cleeng's date, and Cleeng does not prolong it" life_pass
    life_step "Dora has a pass, and Apple refunds it by version 1" life_refund_pass
    life_step "Eve buys on the web: who asks for an answer of now finds it" life_web
}

# The scene ------------------------------------------------------------------------------------------------------------

life_buy() {
    life_tell buy SUBSCRIBED INITIAL_BUY
    life_post "$LIFE_ANA" LIFE_ANA_ID
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_ops active true "$LIFE_MONTHLY" "$LIFE_ANA"
    life_cleeng
}

life_renew() {
    life_tell renew DID_RENEW
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_ops active true "$LIFE_MONTHLY" "$LIFE_ANA"
    life_cleeng
}

# Sent before the period's end, as the App Store charges before it.
life_fail() {
    life_tell 'fail grace' DID_FAIL_TO_RENEW GRACE_PERIOD
    say "(until the month is over)"
    # The end that the app reads is then that of the grace, not that of the newest period.
    LIFE_IS_GRACE=yes
    life_ops in_grace true "$LIFE_MONTHLY" "$LIFE_ANA"
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_cleeng
}

life_end_grace() {
    life_tell grace-ended GRACE_PERIOD_EXPIRED
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" revoked expired
    life_ops in_billing_retry true "$LIFE_MONTHLY" "$LIFE_ANA"
    life_cleeng
}

life_recover() {
    life_tell recover DID_RENEW BILLING_RECOVERY
    LIFE_IS_GRACE=''
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_ops active true "$LIFE_MONTHLY" "$LIFE_ANA"
    life_cleeng
}

life_upgrade() {
    life_tell "upgrade $LIFE_YEARLY" DID_CHANGE_RENEWAL_PREF UPGRADE
    life_post "$LIFE_ANA" LIFE_ANA_YEAR_ID "$LIFE_YEARLY_OFFER"
    life_app "$LIFE_ANA" "$LIFE_ANA_YEAR_ID" granted
    life_access "$LIFE_ANA" "$LIFE_ANA_ID" revoked replaced
    life_ops active true "$LIFE_YEARLY" "$LIFE_ANA"
    life_cleeng
}

life_transfer() {
    life_post "$LIFE_BEN" LIFE_BEN_ID "$LIFE_YEARLY_OFFER"
    life_app "$LIFE_BEN" "$LIFE_BEN_ID" granted
    life_app "$LIFE_ANA" "$LIFE_ANA_YEAR_ID" transferred transferred
    life_ops active true "$LIFE_YEARLY" "$LIFE_BEN"
}

# With a whole period before it: what is given back after its end has ended.
life_refund() {
    life_tell renew DID_RENEW
    life_tell refund REFUND
    life_app "$LIFE_BEN" "$LIFE_BEN_ID" revoked refunded
    life_ops revoked true "$LIFE_YEARLY" "$LIFE_BEN"
    life_cleeng
}

life_reverse_refund() {
    life_tell reverse-refund REFUND_REVERSED
    life_app "$LIFE_BEN" "$LIFE_BEN_ID" granted
    life_ops active true "$LIFE_YEARLY" "$LIFE_BEN"
    life_cleeng
}

# With a whole period before it too: it ends by itself.
life_turn_off() {
    life_tell renew DID_RENEW
    life_tell turn-off DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED
    life_app "$LIFE_BEN" "$LIFE_BEN_ID" granted
    life_ops active false "$LIFE_YEARLY" "$LIFE_BEN"
    life_cleeng
}

life_expire() {
    life_tell expire EXPIRED VOLUNTARY
    life_app "$LIFE_BEN" "$LIFE_BEN_ID" revoked expired
    life_ops expired false "$LIFE_YEARLY" "$LIFE_BEN"
    life_cleeng
}

life_resubscribe() {
    life_tell resubscribe SUBSCRIBED RESUBSCRIBE
    life_app "$LIFE_BEN" "$LIFE_BEN_ID" granted
    life_ops active true "$LIFE_YEARLY" "$LIFE_BEN"
    life_cleeng
}

life_downgrade() {
    life_tell "downgrade $LIFE_MONTHLY" DID_CHANGE_RENEWAL_PREF DOWNGRADE
    life_app "$LIFE_BEN" "$LIFE_BEN_ID" granted
    life_ops active true "$LIFE_YEARLY" "$LIFE_BEN"
    life_cleeng
}

life_renew_cheaper() {
    local left=$LIFE_BEN_ID
    life_tell renew DID_RENEW
    life_post "$LIFE_BEN" LIFE_BEN_ID
    life_app "$LIFE_BEN" "$LIFE_BEN_ID" granted
    life_access "$LIFE_BEN" "$left" revoked replaced
    life_ops active true "$LIFE_MONTHLY" "$LIFE_BEN"
    life_cleeng
}

life_miss() {
    life_tell 'renew --lost' DID_RENEW
    life_app "$LIFE_BEN" "$LIFE_BEN_ID" granted
    life_ops active true "$LIFE_MONTHLY" "$LIFE_BEN"
    life_cleeng
}

# Its own leeway after the period's end.
life_look_up() {
    life_app "$LIFE_BEN" "$LIFE_BEN_ID" revoked expired
    life_ops expired true "$LIFE_MONTHLY" "$LIFE_BEN"
    life_await timeline "event looked_up  detail App Store: expired" life_see_last_event
}

# What the stand-in itself says, besides what the relay says of it.
life_count() {
    life_await Cleeng "notifications $LIFE_NOTIFICATIONS" life_see_count
}

# Others, whose access the App Store's periods do not bound ------------------------------------------------------------

# Only Cleeng says when it ends.
life_pass() {
    local email=cleo+never@example.test id
    life_entitle "$email" "$LIFE_OFFER" "active" ",\"expiresAt\":$(($(date +%s) + LIFE_MONTH))"
    life_post_pass "$email" id
    life_access "$email" "$id" granted
    life_entitle "$email" "$LIFE_OFFER" terminated
    say "(until the pass is over)"
    life_access "$email" "$id" revoked expired
}

life_refund_pass() {
    local email=dora@example.test id body=$RUN_FOLDER/update.json milliseconds
    life_post_pass "$email" id
    life_access "$email" "$id" granted
    milliseconds=$(date +%s)000
    printf '{"notification_type":"REFUND","password":"%s","environment":"Sandbox","bid":"com.example.app",' \
        "$LIFE_SECRET" >"$body"
    printf '"unified_receipt":{"latest_receipt_info":[{"transaction_id":"%s","original_transaction_id":"%s",' \
        "$LIFE_PASS" "$LIFE_PASS" >>"$body"
    printf '"product_id":"com.example.app.pass","purchase_date_ms":"%s","cancellation_date_ms":"%s"}]}}' \
        "$milliseconds" "$milliseconds" >>"$body"
    http_call POST "$LIFE_FRONT/apple/notifications" '' "$body" ||
        service_failed "$SERVICE_LOG" "no answer to POST /apple/notifications"
    life_line "App Store" "REFUND of version 1: HTTP $HTTP_STATUS"
    life_access "$email" "$id" revoked refunded
}

life_web() {
    LIFE_WEB=eve@example.test
    life_entitle "$LIFE_WEB" "$LIFE_OFFER" active
    life_await app "$(life_fields "status granted" "accessGranted true")" life_see_now "GET /entitlements by $LIFE_WEB"
    life_entitle "$LIFE_WEB" "$LIFE_OFFER" terminated
    life_await app "$(life_fields "status revoked" "accessGranted false")" life_see_now
}

# life_entitle EMAIL OFFER STATUS [FIELDS]: by hand, at the stand-in for Cleeng.
life_entitle() {
    local body=$RUN_FOLDER/entitlement.json
    printf '{"offerId":"%s","status":"%s"%s}' "$2" "$3" "${4:-}" >"$body"
    http_call POST "$SIMULATOR_URL/_simulator/customers/$1/entitlements" '' "$body" && [[ "$HTTP_STATUS" == 2* ]] ||
        service_failed "$SIMULATOR_LOG" "Cleeng's stand-in does not entitle $1"
    life_line Cleeng "$1: $2 is $3"
}

# life_post_pass EMAIL VARIABLE: LIFE_PASS is its transaction.
life_post_pass() {
    LIFE_PASS=$(purchase_random_id)
    purchase_signed_pass "$LIFE_PASS" >"$LIFE_TRANSACTION"
    life_post "$1" "$2"
}

life_see_now() {
    local headers=$RUN_FOLDER/now.header
    (umask 077 && cat -- "$LIFE_APP_KEY" >"$headers" && printf 'Cache-Control: no-cache\n' >>"$headers")
    [ "$LIFE_LOOKS" -eq 0 ] || pause 0.5
    http_call GET "$LIFE_FRONT/entitlements?customerEmail=$LIFE_WEB&offerId=$LIFE_OFFER" "$headers" ||
        service_failed "$SERVICE_LOG" "no answer to GET /entitlements"
    LIFE_SEEN=$(json_fields "$HTTP_BODY" '' status accessGranted)
}

# What the steps are made of ------------------------------------------------------------------------------------------

# life_tell COMMAND TYPE [SUBTYPE]: has the App Store tell it, or lose it.
life_tell() {
    local answer="$2${3:+ $3} HTTP 200"
    case "$1" in *--lost) answer="$2${3:+ $3} lost" ;; esac
    player_ask $((LIFE_MONTH + 60)) "$1"
    life_line "App Store" "$PLAYER_ANSWER"
    LIFE_TYPE=$2 LIFE_SUBTYPE=${3:-}
    LIFE_NOTIFICATIONS=$((LIFE_NOTIFICATIONS + 1))
    if [ "$PLAYER_ANSWER" != "$answer" ]; then
        life_refute "the App Store was to come out with $answer"
        life_give_up
    fi
    player_ask 10 transaction
    printf '%s' "$PLAYER_ANSWER" >"$LIFE_TRANSACTION"
    life_read_end
}

# life_read_end: LIFE_END is the end of the newest period, as Apple signed it.
life_read_end() {
    local milliseconds
    milliseconds=$(purchase_claim "$LIFE_TRANSACTION" expiresDate)
    [[ "$milliseconds" =~ ^[0-9]+$ ]] || player_failed "its transaction does not say when it ends"
    LIFE_END_SECONDS=$((milliseconds / 1000))
    TZ=UTC printf -v LIFE_END '%(%Y-%m-%dT%H:%M:%S)T.%03dZ' "$LIFE_END_SECONDS" "$((milliseconds % 1000))"
}

# life_post EMAIL VARIABLE [OFFER]: the newest transaction, as an app posts it; the variable gets the validation's id.
life_post() {
    local body=$RUN_FOLDER/purchase.json
    purchase_write "$body" "$LIFE_TRANSACTION" "$1" "${3:-$LIFE_OFFER}" "$(purchase_transaction_id "$LIFE_TRANSACTION")" ''
    life_send /apple/payment "$1" "$2" "$body"
}

# life_cleeng: the newest notification is the one that was sent, and has arrived.
life_cleeng() {
    life_await Cleeng \
        "$(life_fields "type $LIFE_TYPE" "subtype ${LIFE_SUBTYPE:--}" "relay.status delivered")" life_see_notification
}

life_see_notification() {
    life_get "$LIFE_OPS/ops/notifications?originalTransactionId=$LIFE_SUBSCRIPTION&limit=1"
    LIFE_SEEN=$(json_fields "$HTTP_BODY" items.0. type subtype relay.status)
}

life_see_count() {
    life_get "$SIMULATOR_URL/_simulator/stats"
    LIFE_SEEN=$(json_fields "$HTTP_BODY" '' notifications)
}
