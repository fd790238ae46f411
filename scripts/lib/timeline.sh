# shellcheck shell=bash
# What ops sees of one validation, in readable form.

# timeline_show OPS_URL VIEWER_KEY_FILE VALIDATION_ID
timeline_show() {
    http_call GET "$1/ops/validations/$3" "$2" || service_failed "$SERVICE_LOG" "no answer on the ops port"
    if [ "$HTTP_STATUS" != 200 ]; then
        warn "the ops side answered $HTTP_STATUS $(http_problem)"
        return 0
    fi
    json_lines "$HTTP_BODY" | awk -F '\t' '
        function line(name, text) { if (text != "") printf "    %-22s %s\n", name, text }
        { value[$1] = $2 }
        $1 ~ /^timeline\.[0-9]+\./ {
            split($1, part, "."); at = part[2] + 0
            if (at + 1 > events) events = at + 1
            if (part[3] == "detail" && $2 != "") {
                name = $1; sub(/^timeline\.[0-9]+\.detail\.?/, "", name)
                detail[at] = detail[at] (detail[at] == "" ? "" : ", ") (name == "" ? "" : name " ") $2
            }
        }
        END {
            line("status", value["status"] (value["reason"] == "" ? "" : " (" value["reason"] ")"))
            line("subscription", value["originalTransactionId"])
            line("receipt readable", value["receiptReadable"])
            line("verification", value["verification.result"] \
                (value["verification.code"] == "" ? "" : " (" value["verification.code"] ")"))
            line("entitled before", value["entitledBefore"])
            for (i = 0; i < events; i++) {
                key = "timeline." i "."; clock = value[key "at"]
                sub(/^[^T]*T/, "", clock); sub(/Z$/, "", clock)
                printf "    %-14s %-18s %-4s %8s  %s\n", clock, value[key "event"], value[key "upstreamStatus"],
                    (value[key "latencyMs"] == "" ? "" : value[key "latencyMs"] " ms"), detail[i]
            }
        }'
}
