# shellcheck shell=bash
# What an app does: relay-app posts the purchase and waits until the answer is final.

# follow_purchase URL KEY RECEIPT_FILE EMAIL OFFER TRANSACTION_ID COUPON: sets FOLLOW_ID (empty when the purchase was not
# taken in) and FOLLOW_OUTCOME (0 granted, 1 refused, 2 timed out).
follow_purchase() {
    local kept="$RUN_FOLDER/validation" proof=receipt
    local app=("$BIN_FOLDER/relay-app" purchase --url="$1" --email="$4" --offer="$5" --transaction-id="$6" --keep="$kept")
    ! purchase_is_signed "$3" || proof=jws
    app+=("--$proof=$3")
    [ -z "$7" ] || app+=(--coupon="$7")
    FOLLOW_OUTCOME=0
    # The key travels in the environment, not on the command line; no proxy stands before this machine's own addresses.
    RELAY_APP_KEY=$2 NO_PROXY='*' no_proxy='*' run_in_session "${app[@]}" || FOLLOW_OUTCOME=$?
    [ "$FOLLOW_OUTCOME" -le 2 ] || service_failed "$SERVICE_LOG" "the purchase could not be followed to its outcome"
    # shellcheck disable=SC2034 # scripts/run reads it
    FOLLOW_ID=$(cat -- "$kept" 2>/dev/null || true)
}
