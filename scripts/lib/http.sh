# shellcheck shell=bash
# HTTP calls with curl, untouched by the caller's .curlrc and proxies. Keys travel in files, not on command lines.

HTTP_BODY="$RUN_FOLDER/answer.body"
HTTP_HEADERS="$RUN_FOLDER/answer.headers"

# http_key_file NAME KEY: prints the path of a file with the header that carries the key.
http_key_file() {
    local file="$RUN_FOLDER/$1.header"
    (umask 077 && printf 'Authorization: Bearer %s\n' "$2" >"$file")
    printf '%s' "$file"
}

# http_call METHOD URL [KEY_FILE [BODY_FILE]]: sets HTTP_STATUS; the answer is in HTTP_BODY. Fails without an answer.
http_call() {
    local options=(-q --silent --noproxy '*' --connect-timeout 5 --max-time 75 --request "$1"
        --dump-header "$HTTP_HEADERS" --output "$HTTP_BODY" --write-out '%{http_code}')
    [ -z "${3:-}" ] || options+=(--header "@$3")
    [ -z "${4:-}" ] || options+=(--header 'Content-Type: application/json' --data-binary "@$4")
    : >"$HTTP_BODY"
    HTTP_STATUS=$(curl "${options[@]}" --url "$2" 8>&- 9>&-) && [ "$HTTP_STATUS" != 000 ]
}

# http_header NAME: the first word of that header in the last answer; the name in lower case.
http_header() { tr -d '\r' <"$HTTP_HEADERS" | awk -v name="$1:" 'tolower($1) == name && !seen++ { print $2 }'; }

# http_retry_after DEFAULT: seconds, from the last answer.
http_retry_after() {
    local seconds
    seconds=$(http_header retry-after)
    [[ "$seconds" =~ ^[0-9]{1,4}$ ]] || seconds=$1
    printf '%s' "$seconds"
}

# http_problem: what an application/problem+json answer says, in one line; what is not one, shortened.
http_problem() {
    local code detail fields
    code=$(json_value "$HTTP_BODY" code)
    detail=$(json_value "$HTTP_BODY" detail)
    fields=$(json_lines "$HTTP_BODY" 2>/dev/null |
        awk -F '\t' '$1 ~ /^errors\.[0-9]+\.(field|code)$/ { printf "%s%s", ($1 ~ /field$/ ? "; " : " "), $2 }' || true)
    if [ -n "$code$detail" ]; then
        printf '%s' "${code:-problem}${detail:+: $detail}$fields"
    else
        head -c 200 -- "$HTTP_BODY" | tr -c '[:print:]' ' '
    fi
}
