# shellcheck shell=bash
# What the lives of the stores have in common that a stand-in with a control API plays. life-STORE.sh has LIFE_STORE_URL,
# LIFE_STORE_LOG, LIFE_STORE_NAME (the word before its lines), life_push, life_state and life_end; LIFE_KIND and LIFE_NAME
# are the purchase that the next lines are about.

# life_control METHOD PATH [JSON]
life_control() { store_control "$LIFE_STORE_URL" "$LIFE_STORE_LOG" "$@"; }

# life_sold FIELDS
life_sold() {
    life_control PUT "$LIFE_KIND/$LIFE_NAME" "$1"
    life_line "$LIFE_STORE_NAME" "$LIFE_NAME is sold: $(json_fields "$HTTP_BODY" '' productId)  $(life_state)"
    life_read_end
}

# life_act EVENT [FIELDS]
life_act() {
    life_control POST "$LIFE_KIND/$LIFE_NAME/$1" "${2:-}"
    life_line "$LIFE_STORE_NAME" "$1 of $LIFE_NAME: $(life_state)"
    life_read_end
}

# life_read_end: LIFE_END is the end of the newest period.
life_read_end() {
    LIFE_END=$(life_end)
    LIFE_END_SECONDS=$(date -d "${LIFE_END:-tomorrow}" +%s)
}

# life_in SECONDS: that moment, as the control API takes it.
life_in() { TZ=UTC printf '%(%Y-%m-%dT%H:%M:%SZ)T' $(($(date +%s) + $1)); }

# life_forged ORDER WHAT: the store would come again with it: here pushing is switched off for a moment.
life_forged() {
    life_control POST notifications "$1"
    life_line nobody "$2"
    life_delivered
    life_control DELETE push
    life_push
    life_await metrics "refused for a wrong signature" life_see_refused
}

# life_delivered: all is delivered that was neither lost nor forged; what was forged was refused.
life_delivered() { life_await "$LIFE_STORE_NAME" "not delivered 0  forged HTTP 403" life_see_pushes; }

# life_received TYPE…: the newest notifications of it, in the order of their names; the store was asked because of each.
life_received() {
    LIFE_COUNT=$#
    life_await ops "$*" life_see_received "notifications of $LIFE_NAME"
}

life_see_received() {
    life_get "$LIFE_OPS/ops/notifications?originalTransactionId=$LIFE_SUBSCRIPTION&limit=$LIFE_COUNT"
    LIFE_SEEN=$(json_lines "$HTTP_BODY" | awk -F '\t' '
        $1 ~ /^items\.[0-9]+\.type$/ { type = $2 }
        $1 ~ /^items\.[0-9]+\.relay\.status$/ { print type ($2 == "pending" ? " (pending)" : "") }' | sort | paste -s -d ' ')
}

life_see_refused() {
    local count
    life_get "$LIFE_OPS/metrics"
    count=$(awk '/^store_notifications_total\{/ && /result="signature"/ { sum += $NF } END { print sum + 0 }' "$HTTP_BODY")
    [ "$count" -eq 0 ] || LIFE_SEEN="refused for a wrong signature"
}

# life_see_pushes: of what was neither lost nor forged, how much is not delivered; and how what was forged was answered.
life_see_pushes() {
    [ "$LIFE_LOOKS" -eq 0 ] || pause 0.2
    life_control GET notifications
    LIFE_SEEN=$(json_lines "$HTTP_BODY" | awk -F '\t' '
        { split($1, part, "."); value[part[2], part[3]] = $2; if (part[2] + 1 > count) count = part[2] + 1 }
        END {
            for (i = 0; i < count; i++) {
                if (value[i, "forged"] == "true") forged = value[i, "lastStatus"]
                else if (value[i, "lost"] != "true" && value[i, "delivered"] != "true") waiting++
            }
            printf "not delivered %d  forged HTTP %s", waiting, forged
        }')
}
