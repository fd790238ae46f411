# Reads lines of grep -n, "PATH:NUMBER:TEXT", and prints those in which a word of RULES stands by itself or as part of a name.
# RULES has a line "EXPRESSION: WORDS TO USE" for each word, ALLOWED a line "TEXT" or "PART OF A PATH|TEXT" for each exception.

BEGIN {
    count = split(ENVIRON["RULES"], lines, "\n")
    for (i = 1; i <= count; i++) {
        colon = index(lines[i], ": ")
        if (!colon) continue
        word = substr(lines[i], 1, colon - 1)
        expressions[++rules] = " (" word ") "
        advice[rules] = substr(lines[i], colon + 2)
    }
    count = split(ENVIRON["ALLOWED"], lines, "\n")
    for (i = 1; i <= count; i++) {
        if (lines[i] == "") continue
        bar = index(lines[i], "|")
        place[++exceptions] = substr(lines[i], 1, bar ? bar - 1 : 0)
        exception[exceptions] = substr(lines[i], bar + 1)
    }
}

{
    path = $0
    sub(/:.*/, "", path)
    text = substr($0, length(path) + 2)
    number = text
    sub(/:.*/, "", number)
    text = substr(text, length(number) + 2)
    for (i = 1; i <= exceptions; i++)
        if (index(path, place[i]) || place[i] == "")
            while (at = index(text, exception[i])) text = substr(text, 1, at - 1) "." substr(text, at + length(exception[i]))
    words = " "
    rest = text
    while (match(rest, /[A-Za-z][A-Za-z0-9_]*/)) {
        gap = substr(rest, 1, RSTART - 1)
        # More than a space between two words ends a sequence of words.
        if (gap !~ /^ *$/) words = words ". "
        name = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        words = words parts(name) " "
    }
    for (i = 1; i <= rules; i++)
        if (match(words, expressions[i])) {
            printf "%s:%s: \"%s\" (use: %s)\n", path, number, substr(words, RSTART + 1, RLENGTH - 2), advice[i]
            findings++
        }
}

END { exit findings > 0 }

# The words of a name in lower case: "sentAt" is "sent at".
function parts(name,    i, letter, next_one, before, result) {
    if (name ~ /^[a-z]+$/) return name
    result = ""
    before = ""
    for (i = 1; i <= length(name); i++) {
        letter = substr(name, i, 1)
        next_one = substr(name, i + 1, 1)
        if (letter == "_") letter = " "
        else if (letter ~ /[A-Z]/ && (before ~ /[a-z0-9]/ || (before ~ /[A-Z]/ && next_one ~ /[a-z]/))) result = result " "
        result = result letter
        before = letter
    }
    return tolower(result)
}
