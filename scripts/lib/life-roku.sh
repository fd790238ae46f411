# shellcheck shell=bash
# shellcheck disable=SC2034 # life.sh, store-life.sh and scripts/run read what is set here
# The life of a subscription of Roku Pay. Each step is something that happens at the simulated Roku; what the app, ops and
# the publisher's back end know after it is shown and held against what it should be.

# shellcheck source=/dev/null
. "$PROJECT/scripts/lib/store-life.sh"

LIFE_ANA=ana@example.test
LIFE_BEN=ben@example.test
LIFE_RECHECK_SECONDS=10
LIFE_KIND=subscriptions

# life_prepare MONTH_SECONDS: of the months until a payment fails; from then on all depends on notifications.
life_prepare() {
    LIFE_MONTH=$1 LIFE_PATIENCE=$(($1 + 20))
    port_choose ROKU_PORT 8094 "the stand-in for Roku Pay"
    roku_configure
    LIFE_STORE_URL=$ROKU_URL LIFE_STORE_LOG=$ROKU_LOG LIFE_STORE_NAME=Roku
    LIFE_PUSH_URL="http://127.0.0.1:$HTTP_PORT/roku/notifications"
    LIFE_SETTINGS=("${ROKU_SETTINGS[@]}" "RELAY_STORE_RECHECK_SECONDS=$LIFE_RECHECK_SECONDS"
        "RELAY_POLL_INTERVAL_SECONDS=${RELAY_POLL_INTERVAL_SECONDS:-1}")
}

life_start() {
    roku_start
    life_push
}

life_catalogue() {
    life_sell "$1" roku:gold
}

# life_play OFFER: ends the script with 1 where a step does not come out.
life_play() {
    LIFE_OFFER=$1
    life_step "Ana buys a month, and the app posts the order" life_buy
    life_step "The next month is paid: a transaction of its own" life_renew
    life_step "The app posts that transaction too: it is the same subscription" life_post_renewal
    life_step "The payment after that fails: there is a time of grace" life_fail
    life_step "The grace is over, and it is not paid: it is on hold" life_hold
    life_step "It is paid at last" life_recover
    life_step "Ana cancels it: what is paid is still hers" life_cancel
    life_step "She takes that back" life_resubscribe
    life_step "Somebody forges word of an end: it is refused and counted" life_forge
    life_step "Roku refunds it, and cancels it" life_refund
    life_step "Ben's month is refunded, and the notifications of it are lost: the relay asks again" life_lose
    life_step "Roku has delivered everything else" life_delivered
    step "Ana's month as ops sees it (GET /ops/subscriptions?originalTransactionId=roku:anas-order)"
    life_of anas-order
    life_timeline
}

# The scene ------------------------------------------------------------------------------------------------------------

life_buy() {
    life_of anas-order
    life_sold "{\"expirationDate\":\"$(life_in "$LIFE_MONTH")\"}"
    life_post "$LIFE_ANA" "$LIFE_NAME" LIFE_ANA_ID
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_received Sale
    life_ops active true gold "$LIFE_ANA"
    life_back_end "$LIFE_ANA" roku:gold false Renew
}

life_renew() {
    life_act renew "{\"until\":\"$(life_in $((LIFE_MONTH * 2)))\",\"transactionId\":\"anas-renewal\"}"
    life_received Sale Sale
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_ops active true gold "$LIFE_ANA"
}

life_post_renewal() {
    life_order "$LIFE_ANA" anas-renewal
    http_call POST "$LIFE_FRONT/roku/payment" "$LIFE_APP_KEY" "$LIFE_ORDER" ||
        service_failed "$SERVICE_LOG" "no answer to POST /roku/payment"
    life_line app "POST /roku/payment by $LIFE_ANA: HTTP $HTTP_STATUS"
    [ "$HTTP_STATUS $(json_value "$HTTP_BODY" validationId)" = "200 $LIFE_ANA_ID" ] ||
        life_refute "it was to be the same validation"
    life_ops active true gold "$LIFE_ANA"
}

life_fail() {
    say "(until the month is over)"
    while [ "$(date +%s)" -le "$LIFE_END_SECONDS" ]; do pause 0.2; done
    life_act grace
    life_received GraceInitiated
    life_ops in_grace true gold "$LIFE_ANA"
    life_access "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_back_end "$LIFE_ANA" roku:gold false Renew - true
}

life_hold() {
    life_act hold
    life_received OnHoldInitiated
    life_access "$LIFE_ANA" "$LIFE_ANA_ID" revoked expired
    life_ops in_billing_retry true gold "$LIFE_ANA"
    life_back_end "$LIFE_ANA" roku:gold true Renew System.BillingError true
}

life_recover() {
    life_act renew
    life_received OnHoldRecovered
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_ops active true gold "$LIFE_ANA"
    life_back_end "$LIFE_ANA" roku:gold false Renew
}

life_cancel() {
    life_act cancel
    life_received Cancellation
    life_ops active false gold "$LIFE_ANA"
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_back_end "$LIFE_ANA" roku:gold false Lapse Unknown
}

life_resubscribe() {
    life_act resubscribe
    life_received Resubscribe
    life_ops active true gold "$LIFE_ANA"
    life_back_end "$LIFE_ANA" roku:gold false Renew
}

life_forge() {
    life_forged "{\"message\":{\"transactionType\":\"Cancellation\",\"transactionId\":\"c\",\"originalTransactionId\":\"$LIFE_NAME\"},
        \"forge\":\"signature\"}" "Cancellation of $LIFE_NAME, by a key that is not Roku's"
    life_received Resubscribe
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
}

# Roku does not tell the end that a refund makes from any other.
life_refund() {
    local start
    start=$(life_clock)
    life_act refund
    life_access "$LIFE_ANA" "$LIFE_ANA_ID" revoked expired
    life_took "$start" "the refund" 5
    life_received Cancellation Refund
    life_ops expired false gold "$LIFE_ANA"
    life_back_end "$LIFE_ANA" roku:gold true Lapse Unknown
}

life_lose() {
    local id start
    life_of bens-order
    life_sold '{}'
    life_post "$LIFE_BEN" "$LIFE_NAME" id
    life_app "$LIFE_BEN" "$id" granted
    life_received Sale
    life_control PUT delivery '{"lose":2}'
    start=$(life_clock)
    life_act refund
    life_access "$LIFE_BEN" "$id" revoked expired
    life_took "$start" "the refund" $((LIFE_RECHECK_SECONDS + 10))
    life_received Sale
    life_ops expired false gold "$LIFE_BEN"
}

# What the steps are made of -------------------------------------------------------------------------------------------

# life_of ORIGINAL_ID: what the next lines are about.
life_of() { LIFE_NAME=$1 LIFE_SUBSCRIPTION=roku:$1; }

life_push() { life_control PUT push "{\"url\":\"$LIFE_PUSH_URL\"}"; }

# life_state: what the stand-in's answer says of the purchase.
life_state() { json_fields "$HTTP_BODY" '' cancelled unpaid; }

# life_end: the end of its newest period, as the stand-in knows it.
life_end() { json_value "$HTTP_BODY" expirationDate; }

# life_post EMAIL TRANSACTION VARIABLE
life_post() {
    life_order "$1" "$2"
    life_send /roku/payment "$1" "$3" "$LIFE_ORDER"
}

# life_order EMAIL TRANSACTION: LIFE_ORDER is the file of a purchase.
life_order() {
    LIFE_ORDER=$RUN_FOLDER/purchase.json
    printf '{"customerEmail":"%s","offerId":"%s",' "$1" "$LIFE_OFFER" >"$LIFE_ORDER"
    # shellcheck disable=SC2016 # a price
    printf '"order":{"purchaseId":"%s","code":"gold","amount":"$9.99","qty":1,"total":10.5}}' "$2" >>"$LIFE_ORDER"
}
