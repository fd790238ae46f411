# shellcheck shell=bash
# shellcheck disable=SC2034 # life.sh, store-life.sh and scripts/run read what is set here
# The life of a subscription of the Amazon Appstore. Each step is something that happens at the simulated Amazon; what the
# app, ops and the publisher's back end know after it is shown and held against what it should be.

# shellcheck source=/dev/null
. "$PROJECT/scripts/lib/store-life.sh"

LIFE_ANA=ana@example.test
LIFE_BEN=ben@example.test
LIFE_CLEO=cleo@example.test
LIFE_RECHECK_SECONDS=10
LIFE_TOPIC=arn:aws:sns:us-east-1:123456789012:example
LIFE_KIND=subscriptions

# life_prepare MONTH_SECONDS: of the months until a payment fails; from then on all depends on notifications.
life_prepare() {
    LIFE_MONTH=$1 LIFE_PATIENCE=$(($1 + 20))
    port_choose AMAZON_PORT 8093 "the stand-in for the Amazon Appstore"
    amazon_configure
    LIFE_STORE_URL=$AMAZON_URL LIFE_STORE_LOG=$AMAZON_LOG LIFE_STORE_NAME=Amazon
    LIFE_PUSH_URL="http://127.0.0.1:$HTTP_PORT/amazon/notifications"
    LIFE_SETTINGS=("${AMAZON_SETTINGS[@]}" "RELAY_AMAZON_SNS_TOPICS=$LIFE_TOPIC"
        "RELAY_AMAZON_SNS_CERT_FILE=$AMAZON_CERTIFICATE" "RELAY_AMAZON_SNS_URL=$AMAZON_URL/sns/confirm"
        "RELAY_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8" "RELAY_STORE_RECHECK_SECONDS=$LIFE_RECHECK_SECONDS"
        "RELAY_POLL_INTERVAL_SECONDS=${RELAY_POLL_INTERVAL_SECONDS:-1}")
}

life_start() { amazon_start; }

life_catalogue() {
    life_sell "$1" amazon:gold
    life_sell "$1" amazon:film
}

# life_play OFFER: ends the script with 1 where a step does not come out.
life_play() {
    LIFE_OFFER=$1
    life_step "The relay's address is subscribed to Amazon's topic, and an operator confirms it" life_confirm
    life_step "Ana buys a month, and the app posts the receipt's id" life_buy
    life_step "The next month is paid" life_renew
    life_step "The payment after that fails: there is a time of grace" life_fail
    life_step "It is paid at last" life_recover
    life_step "Ana switches renewal off: what is paid is still hers" life_cancel
    life_step "Somebody forges word of an end: it is refused and counted" life_forge
    life_step "Amazon refunds it" life_refund
    life_step "Ben's month is refunded, and the notification of it is lost: the relay asks again" life_lose
    life_step "Cleo buys a film, once" life_film
    life_step "Amazon refunds the film" life_refund_film
    life_step "Amazon has delivered everything else" life_delivered
    step "Ana's month as ops sees it (GET /ops/subscriptions?originalTransactionId=amazon:anas-receipt)"
    life_of anas-receipt
    life_timeline
}

# The scene ------------------------------------------------------------------------------------------------------------

life_confirm() {
    life_control PUT push "{\"url\":\"$LIFE_PUSH_URL\",\"topic\":\"$LIFE_TOPIC\"}"
    life_await ops "state unconfirmed" life_see_topic
    "${RELAY_COMMAND[@]}" notifications confirm "$LIFE_CONFIRMATION" --reason "the publisher's topic" >>"$SERVICE_LOG" 2>&1 8>&- 9>&- ||
        life_refute "receipt-relay notifications confirm failed"
    life_line operator "receipt-relay notifications confirm $LIFE_CONFIRMATION"
    life_await ops "state confirmed" life_see_topic
}

life_buy() {
    life_of anas-receipt
    life_sold "{\"renewalDate\":\"$(life_in "$LIFE_MONTH")\"}"
    life_post "$LIFE_ANA" LIFE_ANA_ID
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_received SUBSCRIPTION_PURCHASED
    life_ops active true gold "$LIFE_ANA"
    life_back_end "$LIFE_ANA" amazon:gold false Renew
}

life_renew() {
    life_act renew "{\"until\":\"$(life_in $((LIFE_MONTH * 2)))\"}"
    life_received SUBSCRIPTION_RENEWED
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_ops active true gold "$LIFE_ANA"
}

life_fail() {
    say "(until the month is over)"
    while [ "$(date +%s)" -le "$LIFE_END_SECONDS" ]; do pause 0.2; done
    life_act grace
    life_received SUBSCRIPTION_IN_GRACE_PERIOD
    life_ops in_grace true gold "$LIFE_ANA"
    life_access "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_back_end "$LIFE_ANA" amazon:gold false Renew - true
}

life_recover() {
    life_act renew
    life_received SUBSCRIPTION_OUT_OF_GRACE_PERIOD
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_ops active true gold "$LIFE_ANA"
    life_back_end "$LIFE_ANA" amazon:gold false Renew
}

life_cancel() {
    life_act cancel
    life_received SUBSCRIPTION_AUTO_RENEWAL_OFF
    life_ops active false gold "$LIFE_ANA"
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_back_end "$LIFE_ANA" amazon:gold false Lapse Customer
}

life_forge() {
    life_forged "{\"message\":{\"notificationType\":\"SUBSCRIPTION_CANCELLED\",\"receiptId\":\"$LIFE_NAME\",\"appUserId\":\"user-1\"},
        \"forge\":\"signature\"}" "SUBSCRIPTION_CANCELLED of $LIFE_NAME, by a key that is not that of SNS"
    life_received SUBSCRIPTION_AUTO_RENEWAL_OFF
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
}

# Amazon does not tell the end that a refund makes from any other.
life_refund() {
    local start
    start=$(life_clock)
    life_act refund
    life_access "$LIFE_ANA" "$LIFE_ANA_ID" revoked expired
    life_took "$start" "the refund" 5
    life_received SUBSCRIPTION_CANCELLED
    life_ops expired false gold "$LIFE_ANA"
    life_back_end "$LIFE_ANA" amazon:gold true Lapse Customer
}

life_lose() {
    local id start
    life_of bens-receipt
    life_sold '{}'
    life_post "$LIFE_BEN" id
    life_app "$LIFE_BEN" "$id" granted
    life_received SUBSCRIPTION_PURCHASED
    life_control PUT delivery '{"lose":1}'
    start=$(life_clock)
    life_act refund
    life_access "$LIFE_BEN" "$id" revoked expired
    life_took "$start" "the refund" $((LIFE_RECHECK_SECONDS + 10))
    life_received SUBSCRIPTION_PURCHASED
    life_ops expired false gold "$LIFE_BEN"
}

life_film() {
    life_of cleos-receipt
    life_sold '{"productType":"ENTITLED","productId":"film"}'
    life_post "$LIFE_CLEO" LIFE_CLEO_ID
    life_access "$LIFE_CLEO" "$LIFE_CLEO_ID" granted
    life_received ENTITLEMENT_PURCHASED
    life_ops active - film "$LIFE_CLEO"
    life_back_end "$LIFE_CLEO" amazon:film false - - -
}

life_refund_film() {
    local start
    start=$(life_clock)
    life_act refund
    life_access "$LIFE_CLEO" "$LIFE_CLEO_ID" revoked refunded
    life_took "$start" "the refund" 5
    life_received ENTITLEMENT_CANCELLED
    life_ops revoked - film "$LIFE_CLEO"
    life_back_end "$LIFE_CLEO" amazon:film true - Customer -
}

# What the steps are made of -------------------------------------------------------------------------------------------

# life_of RECEIPT_ID: what the next lines are about.
life_of() { LIFE_NAME=$1 LIFE_SUBSCRIPTION=amazon:$1; }

life_push() {
    life_control PUT push "{\"url\":\"$LIFE_PUSH_URL\",\"topic\":\"$LIFE_TOPIC\",\"confirmed\":true}"
}

# life_state: what the stand-in's answer says of the purchase.
life_state() { json_fields "$HTTP_BODY" '' autoRenewing cancelDate; }

# life_end: the end of its newest period, as the stand-in knows it; what is bought once has none.
life_end() { json_value "$HTTP_BODY" renewalDate; }

# life_post EMAIL VARIABLE
life_post() {
    local body=$RUN_FOLDER/purchase.json
    printf '{"customerEmail":"%s","offerId":"%s","receipt":{"userId":"user-1","receiptId":"%s"}}' \
        "$1" "$LIFE_OFFER" "$LIFE_NAME" >"$body"
    life_send /amazon/payment "$1" "$2" "$body"
}

# life_see_topic: LIFE_CONFIRMATION is the notification by which it is confirmed.
life_see_topic() {
    life_get "$LIFE_OPS/ops/summary"
    LIFE_SEEN=$(json_lines "$HTTP_BODY" | awk -F '\t' '$1 ~ /^stores\.[0-9]+\.topics\.0\.state$/ { print "state " $2 }')
    LIFE_CONFIRMATION=$(json_lines "$HTTP_BODY" | awk -F '\t' '$1 ~ /^stores\.[0-9]+\.topics\.0\.notificationId$/ { print $2 }')
}
