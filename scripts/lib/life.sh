# shellcheck shell=bash
# How the life of a purchase is played: steps that are shown, and held against what they should be. What there is of one
# store is in life-STORE.sh, of which scripts/run reads one:
#
#   life_prepare MONTH_SECONDS   chooses the ports of its stand-ins, and sets LIFE_SETTINGS (settings of the relay
#                                besides its own), LIFE_MONTH, LIFE_PATIENCE (the seconds within which a step comes out), and
#                                LIFE_STORE_URL where a stand-in has a control API
#   life_start                   starts them
#   life_catalogue OFFER         which offer the products belong to, before the relay starts
#   life_play OFFER TRANSACTION  the steps: ends the script with 1 where one does not come out
#
# With each purchase LIFE_SUBSCRIPTION is its key at ops, LIFE_END and LIFE_END_SECONDS the end of its newest period.

# shellcheck disable=SC2034 # scripts/run shows the last
LIFE_STEPS=0 LIFE_END='' LIFE_IS_GRACE='' LIFE_STORE_URL=''

# life_stores: those whose lives there are.
life_stores() {
    local stores=("$PROJECT"/scripts/lib/life-*.sh)
    stores=("${stores[@]##*/life-}")
    printf '%s' "${stores[*]%.sh}"
}

# life_sell OFFER PRODUCT
life_sell() {
    "${RELAY_COMMAND[@]}" offers add --offer "$1" --product "$2" >>"$SERVICE_LOG" 2>&1 8>&- 9>&- ||
        service_failed "$SERVICE_LOG" "receipt-relay offers add failed"
}

# life_begin FRONT APP_KEY_FILE OPS VIEWER_KEY_FILE PUBLISHER_KEY_FILE
life_begin() { LIFE_FRONT=$1 LIFE_APP_KEY=$2 LIFE_OPS=$3 LIFE_VIEWER_KEY=$4 LIFE_PUBLISHER_KEY=$5; }

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

# life_send PATH EMAIL VARIABLE BODY_FILE: as an app posts a purchase; the variable gets the validation's id.
life_send() {
    http_call POST "$LIFE_FRONT$1" "$LIFE_APP_KEY" "$4" || service_failed "$SERVICE_LOG" "no answer to POST $1"
    life_line app "POST $1 by $2: HTTP $HTTP_STATUS"
    if [ "$HTTP_STATUS" != 202 ]; then
        life_refute "it was to be taken in: $(http_problem)"
        life_give_up
    fi
    printf -v "$3" '%s' "$(json_value "$HTTP_BODY" validationId)"
}

# life_app EMAIL VALIDATION_ID STATUS [REASON]: the answer that the app polling with this id must get; its end is that of
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

# life_back_end EMAIL KEY IS_EXPIRED RENEWAL_INTENT [REASON [IS_RETRIED]]: what the publisher's back end reads of
# STORE:PRODUCT.
life_back_end() {
    LIFE_CUSTOMER=$1 LIFE_KEY=$2
    life_await /v2 "$(life_fields "isExpired $3" "renewalIntent $4" "cancelationReason ${5:--}" \
        "isBillingRetryPeriod ${6:-false}")" life_see_purchase "$1, $2"
}

# life_fields FIELD…: as json_fields writes them.
life_fields() {
    local text=$1
    shift
    [ "$#" -eq 0 ] || text+=$(printf '  %s' "$@")
    printf '%s' "$text"
}

# life_await NAME WANTED FUNCTION [NOTE]: looks until it is as it should be, for as long as it may take.
life_await() {
    local end=$((SECONDS + LIFE_PATIENCE))
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
    LIFE_SEEN_AT=$(life_clock)
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

life_see_purchase() {
    life_get "$LIFE_FRONT/v2/customers/$LIFE_CUSTOMER/purchases" "$LIFE_PUBLISHER_KEY"
    LIFE_SEEN=$(json_fields "$HTTP_BODY" "purchases.$LIFE_KEY." isExpired renewalIntent cancelationReason \
        isBillingRetryPeriod)
}

# life_clock: in microseconds.
life_clock() { printf '%s' "${EPOCHREALTIME//[!0-9]/}"; }

# life_took START WHAT MOST: how long it was until the poll was answered as it should be; too long is an error.
life_took() {
    local taken=$((LIFE_SEEN_AT - $1)) text
    [ -z "$LIFE_IS_WRONG" ] || return 0
    printf -v text '%d.%02d seconds' $((taken / 1000000)) $((taken / 10000 % 100))
    say "($text from $2 to the poll's answer)"
    [ "$taken" -le $(($3 * 1000000)) ] || life_refute "it was to take $3 seconds at most"
}

# life_get URL [KEY_FILE]: for those who cannot have a poll held, such as ops.
life_get() {
    [ "$LIFE_LOOKS" -eq 0 ] || pause 0.2
    http_call GET "$1" "${2:-$LIFE_VIEWER_KEY}" || service_failed "$SERVICE_LOG" "no answer to $1"
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
