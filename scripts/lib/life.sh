# shellcheck shell=bash
# The life of one subscription on a clock that is sped up. Each step is something that the App Store tells, or an app
# posts; what the app, ops and Cleeng know after it is shown and held against what it should be.

LIFE_MONTHLY=com.example.app.monthly
LIFE_YEARLY=com.example.app.yearly
LIFE_YEARLY_OFFER=S987654321_US
LIFE_SECRET=the-shared-secret-of-version-1
LIFE_ANA=ana@example.test
LIFE_BEN=ben@example.test

# life_settings: LIFE_SETTINGS is what the relay is told besides: months are short here, and the App Store can be asked.
life_settings() {
    # shellcheck disable=SC2034 # scripts/run hands it to service_configure
    LIFE_SETTINGS=("RELAY_APPLE_VERIFICATION=${RELAY_APPLE_VERIFICATION:-enforce}"
        "RELAY_APPLE_RENEWAL_LEEWAY_SECONDS=${RELAY_APPLE_RENEWAL_LEEWAY_SECONDS:-2}"
        "RELAY_POLL_INTERVAL_SECONDS=${RELAY_POLL_INTERVAL_SECONDS:-1}"
        "RELAY_APPLE_BUNDLE_IDS=com.example.app" "RELAY_APPLE_ENVIRONMENTS=Sandbox"
        "RELAY_APPLE_API_KEY_FILE=$STORE_API_KEY_FILE" "RELAY_APPLE_API_KEY_ID=$STORE_API_KEY_ID"
        "RELAY_APPLE_API_ISSUER_ID=$STORE_API_ISSUER_ID" "RELAY_APPLE_API_SANDBOX_URL=$STORE_API_URL"
        "RELAY_APPLE_HISTORY_INTERVAL_SECONDS=1" "RELAY_APPLE_SHARED_SECRET=$LIFE_SECRET")
}

# life_catalogue OFFER: which offer the products belong to, before the relay starts.
life_catalogue() {
    life_sell "$1" "$LIFE_MONTHLY"
    life_sell "$LIFE_YEARLY_OFFER" "$LIFE_YEARLY"
}

# life_sell OFFER PRODUCT
life_sell() {
    "${RELAY_COMMAND[@]}" offers add --offer "$1" --product "$2" >>"$SERVICE_LOG" 2>&1 8>&- 9>&- ||
        service_failed "$SERVICE_LOG" "receipt-relay offers add failed"
}

# life_play FRONT APP_KEY_FILE OPS VIEWER_KEY_FILE OFFER ORIGINAL_TRANSACTION_ID MONTH_SECONDS: ends the script with 1
# where a step does not come out.
life_play() {
    LIFE_FRONT=$1 LIFE_APP_KEY=$2 LIFE_OPS=$3 LIFE_VIEWER_KEY=$4 LIFE_OFFER=$5 LIFE_SUBSCRIPTION=$6 LIFE_MONTH=$7
    LIFE_TRANSACTION=$RUN_FOLDER/transaction.txt
    LIFE_STEPS=0 LIFE_NOTIFICATIONS=0 LIFE_IS_GRACE=''
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
    life_step "Cleeng has heard every word" life_count
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

# Told before the period's end, as the App Store charges before it.
life_fail() {
    life_tell 'fail grace' DID_FAIL_TO_RENEW GRACE_PERIOD
    say "(until the month is over)"
    # What the app is told ends with the grace then, and not with the newest period.
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

# How it is played -----------------------------------------------------------------------------------------------------

# life_step TITLE FUNCTION
life_step() {
    LIFE_STEPS=$((LIFE_STEPS + 1)) LIFE_TITLE="$LIFE_STEPS. $1" LIFE_IS_WRONG=''
    step "$LIFE_TITLE"
    "$2"
    [ -z "$LIFE_IS_WRONG" ] || life_give_up
}

# life_refute TEXT: the step goes on, so that the rest of it is seen too.
life_refute() {
    LIFE_IS_WRONG=yes
    complain "step $LIFE_TITLE: $*"
}

# Of a part that has died no step comes out, which says nothing of the steps.
life_give_up() {
    service_all_alive || exit "$CANNOT_RUN"
    exit 1
}

# life_line NAME TEXT
life_line() { printf '    %-12s %s\n' "$1" "$2"; }

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
    http_call POST "$LIFE_FRONT/apple/payment" "$LIFE_APP_KEY" "$body" ||
        service_failed "$SERVICE_LOG" "no answer to POST /apple/payment"
    life_line app "POST /apple/payment by $1: HTTP $HTTP_STATUS"
    if [ "$HTTP_STATUS" != 202 ]; then
        life_refute "it was to be taken in: $(http_problem)"
        life_give_up
    fi
    printf -v "$2" '%s' "$(json_value "$HTTP_BODY" validationId)"
}

# life_app EMAIL VALIDATION_ID STATUS [REASON]: what the app that polls with this id is to be told; its end is that of
# the newest period.
life_app() {
    local access=false
    [ "$3" != granted ] || access=true
    local expected=("status $3" "accessGranted $access" "reason ${4:--}")
    [ -n "$LIFE_IS_GRACE" ] || expected+=("expiresAt $LIFE_END")
    LIFE_POLL=$2 LIFE_TAG=''
    life_await app "$(life_fields "${expected[@]}")" life_see_app "$1"
}

# life_access EMAIL VALIDATION_ID STATUS [REASON]: the same, where its end is not that of the newest period.
life_access() {
    local LIFE_IS_GRACE=yes
    life_app "$@"
}

# life_ops STATUS WILL_RENEW PRODUCT EMAIL
life_ops() {
    life_await ops "$(life_fields "status $1" "willRenew $2" "productId $3" "customerEmail $4")" life_see_subscription
}

# life_cleeng: the newest notification is the one that was told, and has got there.
life_cleeng() {
    life_await Cleeng \
        "$(life_fields "type $LIFE_TYPE" "subtype ${LIFE_SUBTYPE:--}" "relay.status delivered")" life_see_notification
}

# life_fields FIELD…: as json_fields writes them.
life_fields() {
    local text=$1
    shift
    [ "$#" -eq 0 ] || text+=$(printf '  %s' "$@")
    printf '%s' "$text"
}

# life_await NAME WANTED FUNCTION [NOTE]: looks until it is as it should be, for at most a month and twenty seconds.
life_await() {
    local end=$((SECONDS + LIFE_MONTH + 20))
    LIFE_SEEN='' LIFE_LOOKS=0
    [ -z "$LIFE_IS_WRONG" ] || end=$SECONDS
    while "$3" && [ "$LIFE_SEEN" != "$2" ] && [ "$SECONDS" -lt "$end" ]; do LIFE_LOOKS=$((LIFE_LOOKS + 1)); done
    if [ "$LIFE_SEEN" = "$2" ]; then
        life_line "$1" "$LIFE_SEEN${4:+  ($4)}"
    else
        life_line "$1" "$RED$LIFE_SEEN$PLAIN${4:+  ($4)}"
        life_refute "$1 was to be: $2"
        life_doubt "$2"
    fi
}

# life_doubt WANTED: what goes on only while a period does may have come too late.
life_doubt() {
    case "$1" in
    'status granted'* | 'status active'*) [ "$(date +%s)" -lt "$LIFE_END_SECONDS" ] ||
        say "the period was over by then; on a slow machine try --month $((LIFE_MONTH * 3))" ;;
    esac
}

# Once at once; from then on the poll is held until there is something new.
life_see_app() {
    local headers=$RUN_FOLDER/poll.header
    (umask 077 && cat -- "$LIFE_APP_KEY" >"$headers")
    [ -z "$LIFE_TAG" ] || printf 'If-None-Match: %s\nPrefer: wait=3\n' "$LIFE_TAG" >>"$headers"
    http_call GET "$LIFE_FRONT/entitlements/$LIFE_POLL" "$headers" ||
        service_failed "$SERVICE_LOG" "no answer to the poll"
    case "$HTTP_STATUS" in
    200)
        local fields=(status accessGranted reason)
        [ -n "$LIFE_IS_GRACE" ] || fields+=(expiresAt)
        LIFE_SEEN=$(json_fields "$HTTP_BODY" '' "${fields[@]}")
        ;;
    304) ;;
    429 | 503) pause "$(http_retry_after 1)" ;;
    *) service_failed "$SERVICE_LOG" "the poll was answered $HTTP_STATUS $(http_problem)" ;;
    esac
    LIFE_TAG=$(http_header etag)
}

life_see_subscription() {
    life_get "$LIFE_OPS/ops/subscriptions?originalTransactionId=$LIFE_SUBSCRIPTION"
    LIFE_SEEN=$(json_fields "$HTTP_BODY" items.0. status willRenew productId customerEmail)
}

life_see_notification() {
    life_get "$LIFE_OPS/ops/notifications?originalTransactionId=$LIFE_SUBSCRIPTION&limit=1"
    LIFE_SEEN=$(json_fields "$HTTP_BODY" items.0. type subtype relay.status)
}

life_see_count() {
    life_get "$SIMULATOR_URL/_simulator/stats"
    LIFE_SEEN=$(json_fields "$HTTP_BODY" '' notifications)
}

# life_get URL: for ops, who cannot have a poll held.
life_get() {
    [ "$LIFE_LOOKS" -eq 0 ] || pause 0.2
    http_call GET "$1" "$LIFE_VIEWER_KEY" || service_failed "$SERVICE_LOG" "no answer to $1"
    [ "$HTTP_STATUS" = 200 ] || service_failed "$SERVICE_LOG" "$1 was answered $HTTP_STATUS $(http_problem)"
}

life_see_last_event() {
    life_see_subscription
    LIFE_SEEN=$(json_lines "$HTTP_BODY" | awk -F '\t' '
        $1 ~ /^items\.0\.timeline\.[0-9]+\.event$/ { event = $2 }
        $1 ~ /^items\.0\.timeline\.[0-9]+\.detail$/ { detail = $2 }
        END { printf "event %s  detail %s", event, detail }')
}

life_timeline() {
    LIFE_LOOKS=0
    life_see_subscription
    json_lines "$HTTP_BODY" | awk -F '\t' '
        function put(row, column, text) {
            value[row, column] = text == "" ? "-" : text
            if (length(value[row, column]) > width[column]) width[column] = length(value[row, column])
        }
        BEGIN {
            columns = split("at event detail status", name, " ")
            for (i = 1; i <= columns; i++) put(0, name[i], toupper(name[i]))
        }
        $1 ~ /^items\.0\.timeline\.[0-9]+\./ {
            split($1, part, "."); if (part[4] + 1 > rows) rows = part[4] + 1
            if (part[5] == "at") { sub(/^[^T]*T/, "", $2); sub(/Z$/, "", $2) }
            put(part[4] + 1, part[5], $2)
        }
        END {
            for (row = 0; row <= rows; row++) {
                text = "  "
                for (i = 1; i <= columns; i++) text = text sprintf("  %-" width[name[i]] "s", value[row, name[i]])
                sub(/ +$/, "", text)
                print text
            }
        }'
}
