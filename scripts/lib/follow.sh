# shellcheck shell=bash
# What an app does: post the purchase, then poll until the answer is final. Each step is shown with a clock.

at_clock() { printf '%s%s%s  %s\n' "$DIM" "$(date +%H:%M:%S)" "$PLAIN" "$*"; }
below() { printf '          %s\n' "$*"; }

# follow_meaning STATUS: what a status means to the app, from the last answer.
follow_meaning() {
    local reason expires late
    reason=$(json_value "$HTTP_BODY" reason)
    case "$1" in
    pending) printf 'not yet; ask again in %s s' "$(http_retry_after 5)" ;;
    granted)
        expires=$(json_value "$HTTP_BODY" expiresAt)
        late=$(json_value "$HTTP_BODY" late)
        printf 'access is open%s: reveal the content' "${expires:+ until $expires}"
        [ "$late" != true ] || printf ' (it came after the deadline)'
        ;;
    rejected) printf 'refused%s' "${reason:+: $reason}" ;;
    timed_out) printf 'no grant within the time allowed: assume that it failed and tell the user' ;;
    transferred) printf 'the subscription belongs to another email now' ;;
    revoked) printf 'access has ended%s' "${reason:+: $reason}" ;;
    *) printf 'a status that this script does not know: treat it as final' ;;
    esac
}

# follow_show STATUS: one line under the request.
follow_show() {
    local colour=$YELLOW
    case "$1" in
    granted) colour=$GREEN ;;
    rejected | transferred | revoked | timed_out) colour=$RED ;;
    esac
    below "$HTTP_STATUS $colour$BOLD${1:-?}$PLAIN  $(follow_meaning "$1")"
}

# follow_purchase URL KEY_FILE BODY_FILE: sets FOLLOW_ID (empty when the purchase was not taken in) and FOLLOW_STATUS.
follow_purchase() {
    local wait
    FOLLOW_ID='' FOLLOW_STATUS=''
    at_clock "POST /apple/payment  ($(wc -c <"$3" | tr -d ' ') bytes)"
    http_call POST "$1/apple/payment" "$2" "$3" || service_failed "$SERVICE_LOG" "no answer to POST /apple/payment"
    case "$HTTP_STATUS" in
    200 | 202) ;;
    4??)
        FOLLOW_STATUS=rejected
        below "$HTTP_STATUS ${RED}not taken in$PLAIN  $(http_problem)"
        return 0
        ;;
    *) service_failed "$SERVICE_LOG" "POST /apple/payment answered $HTTP_STATUS $(http_problem)" ;;
    esac
    FOLLOW_ID=$(json_value "$HTTP_BODY" validationId)
    FOLLOW_STATUS=$(json_value "$HTTP_BODY" status)
    [ -n "$FOLLOW_ID" ] || die "the answer holds no validationId: $(http_problem)"
    follow_show "$FOLLOW_STATUS"
    below "validation $FOLLOW_ID, deadline $(json_value "$HTTP_BODY" deadline)"
    follow_until_final "$1" "$2"
}

follow_until_final() {
    local wait give_up=$((SECONDS + ${RELAY_VALIDATION_TIMEOUT_SECONDS:-60} + 60))
    wait=$(http_retry_after 5)
    while [ "$FOLLOW_STATUS" = pending ]; do
        [ "$SECONDS" -lt "$give_up" ] || service_failed "$SERVICE_LOG" "still pending long after the deadline"
        pause "$wait"
        at_clock "GET /entitlements/$FOLLOW_ID"
        http_call GET "$1/entitlements/$FOLLOW_ID" "$2" || service_failed "$SERVICE_LOG" "no answer to the poll"
        wait=$(http_retry_after 5)
        case "$HTTP_STATUS" in
        200)
            FOLLOW_STATUS=$(json_value "$HTTP_BODY" status)
            [ -n "$FOLLOW_STATUS" ] || die "the answer holds no status: $(http_problem)"
            follow_show "$FOLLOW_STATUS"
            ;;
        429 | 503) below "$HTTP_STATUS passing trouble; ask again in $wait s" ;;
        *) service_failed "$SERVICE_LOG" "the poll was answered $HTTP_STATUS $(http_problem)" ;;
        esac
    done
}

# follow_exit_status: for scripts.
follow_exit_status() {
    case "$FOLLOW_STATUS" in
    granted) echo 0 ;;
    timed_out) echo 2 ;;
    *) echo 1 ;;
    esac
}
