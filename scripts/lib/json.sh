# shellcheck shell=bash
# As much JSON as the scripts need, with awk and no further program: reading any document into lines, writing strings.

# json_lines FILE: one line for each scalar, "path<TAB>value", such as "timeline.0.event<TAB>accepted". null is empty;
# control characters in strings become blanks.
json_lines() {
    LC_ALL=C awk '
    function skip() { while (at <= size && index(" \t\r\n", substr(text, at, 1)) > 0) at++ }
    function fail() { print "not JSON at byte " at > "/dev/stderr"; bad = 1; exit 1 }
    function string(   out, c, code) {
        out = ""
        for (at++; at <= size; at++) {
            c = substr(text, at, 1)
            if (c == "\"") { at++; return out }
            if (c == "\\") {
                c = substr(text, ++at, 1)
                if (c == "u") {
                    code = substr(text, at + 1, 4); at += 4
                    out = out (code ~ /^00[2-7]/ ? sprintf("%c", hex(code)) : "\\u" code)
                    continue
                }
                if (index("bfnrt", c) > 0) c = " "
            }
            out = out c
        }
        fail()
    }
    function hex(digits,   i, n) {
        for (i = 1; i <= length(digits); i++) n = n * 16 + index("0123456789abcdef", tolower(substr(digits, i, 1))) - 1
        return n
    }
    function child(path, name) { return path == "" ? name : path "." name }
    function value(path, depth,   c, close_mark, n, start, name) {
        if (depth > 64) fail()
        skip(); c = substr(text, at, 1)
        if (c == "\"") { print path "\t" string(); return }
        if (c == "{" || c == "[") {
            close_mark = c == "{" ? "}" : "]"; at++; skip()
            if (substr(text, at, 1) == close_mark) { at++; return }
            for (n = 0; ; n++) {
                skip(); name = n
                if (c == "{") {
                    if (substr(text, at, 1) != "\"") fail()
                    name = string(); skip()
                    if (substr(text, at++, 1) != ":") fail()
                }
                value(child(path, name), depth + 1); skip()
                if (substr(text, at, 1) == close_mark) { at++; return }
                if (substr(text, at++, 1) != ",") fail()
            }
        }
        start = at
        while (at <= size && index("+-.0123456789eEtrufalsn", substr(text, at, 1)) > 0) at++
        c = substr(text, start, at - start)
        if (c !~ /^(null|true|false|-?[0-9][0-9.eE+-]*)$/) fail()
        print path "\t" (c == "null" ? "" : c)
    }
    { text = text $0 "\n" }
    END { if (bad) exit 1; size = length(text); at = 1; value("", 0) }' "$1"
}

# json_value FILE PATH: the value there, empty where there is none.
json_value() {
    json_lines "$1" 2>/dev/null | awk -F '\t' -v path="$2" '$1 == path { print substr($0, length(path) + 2) }' || true
}

# json_fields FILE PREFIX NAME…: "name value  name value", of the values at prefix and name, with - where there is none.
json_fields() {
    local file=$1 prefix=$2
    shift 2
    json_lines "$file" 2>/dev/null | awk -F '\t' -v prefix="$prefix" -v names="$*" '
        { value[$1] = $2 }
        END {
            count = split(names, name, " ")
            for (i = 1; i <= count; i++) {
                text = value[prefix name[i]]
                printf "%s%s %s", (i > 1 ? "  " : ""), name[i], (text == "" ? "-" : text)
            }
        }' || true
}

# json_string TEXT: the text as a JSON string.
json_string() {
    local text=$1 out='' i c
    for ((i = 0; i < ${#text}; i++)); do
        c=${text:i:1}
        case "$c" in
        '"' | \\) out+="\\$c" ;;
        [[:cntrl:]]) printf -v c '\\u%04x' "'$c" && out+=$c ;;
        *) out+=$c ;;
        esac
    done
    printf '"%s"' "$out"
}
