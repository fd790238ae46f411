# shellcheck shell=bash
# The purchase that is posted: a signed transaction made here, or somebody's own receipt.

purchase_random_id() { printf '2%07d%08d' $((SRANDOM % 10000000)) $((SRANDOM % 100000000)); }

# purchase_open_store: a stand-in for the App Store that lives as long as this run. STORE_ROOTS is whom the relay is to trust.
purchase_open_store() {
    STORE_FOLDER=$RUN_FOLDER/app-store
    # shellcheck disable=SC2034 # service.sh hands it to the relay
    STORE_ROOTS=$STORE_FOLDER/roots.pem
    "$BIN_FOLDER/app-store-simulator" create-roots "$STORE_FOLDER"
}

# purchase_signed_transaction TRANSACTION_ID: a StoreKit 2 transaction, as a compact JWS.
purchase_signed_transaction() {
    "$BIN_FOLDER/app-store-simulator" sign-transaction "$STORE_FOLDER" --transaction-id "$1"
}

# purchase_signed_pass TRANSACTION_ID: one of a pass, which does not renew.
purchase_signed_pass() {
    "$BIN_FOLDER/app-store-simulator" sign-transaction "$STORE_FOLDER" --transaction-id "$1" --pass \
        --product-id com.example.app.pass
}

# purchase_read_receipt FILE TARGET: base64 text and signed transactions without their white space, binary as base64.
purchase_read_receipt() {
    local raw="$2.raw"
    cat -- "$1" >"$raw" || die "cannot read the receipt $1"
    LC_ALL=C tr -d ' \t\r\n\v\f' <"$raw" >"$2"
    [ -s "$2" ] || die "the receipt $1 is empty"
    if [ "$(LC_ALL=C tr -d 'A-Za-z0-9+/=_.-' <"$2" | wc -c)" -ne 0 ]; then
        base64 -w 0 <"$raw" >"$2"
    fi
    rm -f -- "$raw"
}

# purchase_is_signed RECEIPT_FILE: whether it has the form of a signed transaction.
purchase_is_signed() { grep -qE '^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$' "$1"; }

# purchase_claim RECEIPT_FILE NAME: what a signed transaction says under that name; empty for anything else.
purchase_claim() {
    local payload="$1.payload"
    purchase_is_signed "$1" || return 0
    # base64 -d grumbles about the missing padding after it has written all there is.
    cut -d . -f 2 "$1" | tr -d '\n' | tr '_-' '/+' | base64 -d >"$payload" 2>/dev/null || true
    json_value "$payload" "$2"
    rm -f -- "$payload"
}

# purchase_transaction_id RECEIPT_FILE: the id that a signed transaction names; empty for anything else.
purchase_transaction_id() {
    local id
    id=$(purchase_claim "$1" transactionId)
    [[ ! "$id" =~ ^[0-9]+$ ]] || printf '%s' "$id"
}

# purchase_write BODY_FILE RECEIPT_FILE EMAIL OFFER TRANSACTION_ID COUPON: receipts may be megabytes, so no variable
# ever holds one.
purchase_write() {
    {
        printf '{"customerEmail":%s,"offerId":%s,' "$(json_string "$3")" "$(json_string "$4")"
        [ -z "$6" ] || printf '"couponCode":%s,' "$(json_string "$6")"
        printf '"appType":"ios","receipt":{"transactionId":%s,"receiptData":"' "$(json_string "$5")"
        cat -- "$2"
        printf '"}}'
    } >"$1"
}
