# shellcheck shell=bash
# shellcheck disable=SC2034 # life.sh and scripts/run read what is set here
# The life of a subscription of Google Play. Each step is something that happens at the simulated Google; what the app,
# ops, the publisher's back end and Google know after it is shown and held against what it should be.

# shellcheck source=/dev/null
. "$PROJECT/scripts/lib/store-life.sh"

LIFE_ANA=ana@example.test
LIFE_BEN=ben@example.test
LIFE_CLEO=cleo@example.test
LIFE_SWEEP_SECONDS=10

# life_prepare MONTH_SECONDS: of the months until a payment fails; from then on all depends on notifications.
life_prepare() {
    LIFE_MONTH=$1 LIFE_PATIENCE=$(($1 + 20))
    port_choose GOOGLE_PORT 8092 "the stand-in for Google Play"
    google_configure
    LIFE_STORE_URL=$GOOGLE_URL LIFE_STORE_LOG=$GOOGLE_LOG LIFE_STORE_NAME=Google LIFE_PUSH_URL="http://127.0.0.1:$HTTP_PORT/google/notifications"
    LIFE_SETTINGS=("${GOOGLE_SETTINGS[@]}" "RELAY_GOOGLE_JWKS_URL=$GOOGLE_URL/oauth2/v3/certs"
        "RELAY_GOOGLE_PUSH_AUDIENCE=$LIFE_PUSH_URL" "RELAY_GOOGLE_PUSH_EMAIL=push@example.iam.gserviceaccount.com"
        "RELAY_VOIDED_SWEEP_SECONDS=$LIFE_SWEEP_SECONDS"
        "RELAY_POLL_INTERVAL_SECONDS=${RELAY_POLL_INTERVAL_SECONDS:-1}")
}

life_start() {
    google_start
    life_push
}

# The yearly plan opens what the monthly one does.
life_catalogue() {
    life_sell "$1" google:gold
    life_sell "$1" google:gold-yearly
    life_sell "$1" google:film
}

# life_play OFFER: ends the script with 1 where a step does not come out.
life_play() {
    LIFE_OFFER=$1
    life_step "Ana buys a month, and the app posts the purchase token" life_buy
    life_step "The next month is paid" life_renew
    life_step "The payment after that fails: there is a time of grace" life_fail
    life_step "The grace is over, and it is not paid: it is on hold" life_hold
    life_step "It is paid at last" life_recover
    life_step "Ana pauses it" life_pause
    life_step "It goes on" life_recover
    life_step "Ana cancels it: what is paid is still hers" life_cancel
    life_step "She takes the yearly plan instead, which has a token of its own that no app posts" life_change
    life_step "Somebody forges word of a refund: it is refused and counted" life_forge
    life_step "Google refunds it" life_refund
    life_step "Ben's month is refunded, and the notifications of it are lost: the relay asks for what was voided" life_lose
    life_step "Cleo buys a film, once" life_film
    life_step "Google refunds the film" life_refund_film
    life_step "Google has delivered everything else" life_delivered
    step "Ana's yearly plan as ops sees it (GET /ops/subscriptions?originalTransactionId=google:anas-year)"
    life_of subscriptions anas-year
    life_timeline
}

# The scene ------------------------------------------------------------------------------------------------------------

life_buy() {
    life_of subscriptions anas-month
    life_sold "{\"productId\":\"gold\",\"isAcknowledged\":false,\"expiryTime\":\"$(life_in "$LIFE_MONTH")\"}"
    life_post "$LIFE_ANA" gold LIFE_ANA_ID
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_acknowledged
    life_received SUBSCRIPTION_PURCHASED
    life_ops active true gold "$LIFE_ANA"
    life_back_end "$LIFE_ANA" google:gold false Renew
}

life_renew() {
    life_act renew "{\"until\":\"$(life_in $((LIFE_MONTH * 2)))\"}"
    life_received SUBSCRIPTION_RENEWED
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_ops active true gold "$LIFE_ANA"
    life_acknowledged
}

life_fail() {
    say "(until the month is over)"
    while [ "$(date +%s)" -le "$LIFE_END_SECONDS" ]; do pause 0.2; done
    life_act grace
    life_received SUBSCRIPTION_IN_GRACE_PERIOD
    life_ops in_grace true gold "$LIFE_ANA"
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_back_end "$LIFE_ANA" google:gold false Renew - true
}

life_hold() {
    life_act hold
    life_received SUBSCRIPTION_ON_HOLD
    life_access "$LIFE_ANA" "$LIFE_ANA_ID" revoked expired
    life_ops in_billing_retry true gold "$LIFE_ANA"
    life_back_end "$LIFE_ANA" google:gold true Renew System.BillingError true
}

life_recover() {
    life_act renew
    life_received SUBSCRIPTION_RECOVERED
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_ops active true gold "$LIFE_ANA"
    life_back_end "$LIFE_ANA" google:gold false Renew
}

life_pause() {
    life_act pause
    life_received SUBSCRIPTION_PAUSED
    life_access "$LIFE_ANA" "$LIFE_ANA_ID" revoked expired
    life_ops expired true gold "$LIFE_ANA"
    life_back_end "$LIFE_ANA" google:gold true Renew Unknown
}

life_cancel() {
    life_act cancel '{"survey":"COST_RELATED"}'
    life_received SUBSCRIPTION_CANCELED
    life_ops active false gold "$LIFE_ANA"
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_back_end "$LIFE_ANA" google:gold false Lapse Customer.Cost
}

# Google gives a changed plan a new token, and ends the old one.
life_change() {
    life_of subscriptions anas-year
    life_sold "{\"productId\":\"gold-yearly\",\"linkedPurchaseToken\":\"anas-month\",\"isAcknowledged\":false,
        \"expiryTime\":\"$(life_in $((365 * 86400)))\"}"
    life_received SUBSCRIPTION_PURCHASED
    life_ops active true gold-yearly "$LIFE_ANA"
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_acknowledged
    local LIFE_END=$LIFE_END
    life_of subscriptions anas-month
    life_act expire '{"by":"replacement"}'
    life_received SUBSCRIPTION_EXPIRED
    life_access "$LIFE_ANA" "$LIFE_ANA_ID" granted
    life_of subscriptions anas-year
    life_ops active true gold-yearly "$LIFE_ANA"
    life_back_end "$LIFE_ANA" google:gold-yearly false Renew
    life_back_end "$LIFE_ANA" google:gold true - System.Replaced -
}

# Google does not tell the end that a refund makes from any other.
life_refund() {
    local start
    start=$(life_clock)
    life_act refund
    life_access "$LIFE_ANA" "$LIFE_ANA_ID" revoked expired
    life_took "$start" "the refund" 5
    life_received SUBSCRIPTION_REVOKED VOIDED_PURCHASE
    life_ops expired false gold-yearly "$LIFE_ANA"
    life_back_end "$LIFE_ANA" google:gold-yearly true Lapse Developer
}

life_lose() {
    local id start
    life_of subscriptions bens-month
    life_sold '{"productId":"gold","isAcknowledged":false}'
    life_post "$LIFE_BEN" gold id
    life_app "$LIFE_BEN" "$id" granted
    life_acknowledged
    life_received SUBSCRIPTION_PURCHASED
    life_control PUT delivery '{"lose":2}'
    start=$(life_clock)
    life_act refund
    life_access "$LIFE_BEN" "$id" revoked expired
    life_took "$start" "the refund" $((LIFE_SWEEP_SECONDS + 5))
    life_received SUBSCRIPTION_PURCHASED VOIDED_PURCHASE
    life_ops expired false gold "$LIFE_BEN"
}

life_forge() {
    life_forged "{\"notification\":{\"subscriptionNotification\":{\"notificationType\":12,\"purchaseToken\":\"$LIFE_NAME\"}},
        \"forge\":\"signature\"}" "SUBSCRIPTION_REVOKED of $LIFE_NAME, by a key that is not Google's"
    life_received SUBSCRIPTION_PURCHASED
    life_app "$LIFE_ANA" "$LIFE_ANA_ID" granted
}

life_film() {
    life_of products cleos-film
    life_sold '{"productId":"film","isAcknowledged":false}'
    life_post "$LIFE_CLEO" film LIFE_CLEO_ID
    life_access "$LIFE_CLEO" "$LIFE_CLEO_ID" granted
    life_acknowledged
    life_received ONE_TIME_PRODUCT_PURCHASED
    life_ops active - film "$LIFE_CLEO"
    life_back_end "$LIFE_CLEO" google:film false - - -
}

life_refund_film() {
    local start
    start=$(life_clock)
    life_act refund
    life_access "$LIFE_CLEO" "$LIFE_CLEO_ID" revoked refunded
    life_took "$start" "the refund" 5
    life_received VOIDED_PURCHASE
    life_ops revoked - film "$LIFE_CLEO"
    life_back_end "$LIFE_CLEO" google:film true - Customer -
}

# What the steps are made of -------------------------------------------------------------------------------------------

# life_of KIND TOKEN: what the next lines are about; the kind is subscriptions or products.
life_of() { LIFE_KIND=$1 LIFE_NAME=$2 LIFE_SUBSCRIPTION=google:$2; }

life_push() { life_control PUT push "{\"url\":\"$LIFE_PUSH_URL\"}"; }

# life_state: what the stand-in's answer says of the purchase.
life_state() {
    local fields=(state autoRenewing linkedPurchaseToken)
    [ "$LIFE_KIND" = subscriptions ] || fields=(purchaseState)
    json_fields "$HTTP_BODY" '' "${fields[@]}"
}

# life_end: the end of its newest period, as the stand-in knows it; what is bought once has none.
life_end() { json_value "$HTTP_BODY" expiryTime; }

# life_post EMAIL PRODUCT VARIABLE
life_post() {
    local body=$RUN_FOLDER/purchase.json
    printf '{"customerEmail":"%s","offerId":"%s",' "$1" "$LIFE_OFFER" >"$body"
    printf '"receipt":{"productId":"%s","purchaseToken":"%s","packageName":"com.example.app"}}' \
        "$2" "$LIFE_NAME" >>"$body"
    life_send /android/payment "$1" "$3" "$body"
}

# life_acknowledged: Google has the acknowledgement of the grant, once.
life_acknowledged() { life_await Google "acknowledgements 1" life_see_acknowledgements "$LIFE_NAME"; }

life_see_acknowledgements() {
    [ "$LIFE_LOOKS" -eq 0 ] || pause 0.2
    life_control GET "$LIFE_KIND/$LIFE_NAME"
    LIFE_SEEN=$(json_fields "$HTTP_BODY" '' acknowledgements)
}
