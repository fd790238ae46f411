# shellcheck shell=bash
# What the person at the terminal reads. Colour only where a terminal shows it and nobody asked for none.

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    BOLD=$'\e[1m' DIM=$'\e[2m' RED=$'\e[31m' YELLOW=$'\e[33m' PLAIN=$'\e[0m'
else
    # shellcheck disable=SC2034 # the files that are read after this one use them
    BOLD='' DIM='' RED='' YELLOW='' PLAIN=''
fi

# Exit status of "the script could not do its work", apart from 1 and 2, which are outcomes of a purchase.
CANNOT_RUN=3
USAGE_ERROR=64

step() { printf '%s==>%s %s\n' "$BOLD" "$PLAIN" "$*"; }
say() { printf '    %s\n' "$*"; }
warn() { printf '%swarning:%s %s\n' "$YELLOW" "$PLAIN" "$*" >&2; }
complain() { printf '%serror:%s %s\n' "$RED" "$PLAIN" "$*" >&2; }

# Shell functions call this from subshells too; set -e passes the status on.
die() {
    complain "$*"
    exit "$CANNOT_RUN"
}

usage_error() {
    complain "$* (see --help)"
    exit "$USAGE_ERROR"
}

# The comment block at the top of a script is its help.
print_help() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$1"; }

# show_log_tail FILE: the last lines of the log of whatever failed.
show_log_tail() {
    [ -s "$1" ] || return 0
    printf '%s--- last lines of %s%s\n' "$DIM" "$1" "$PLAIN" >&2
    tail -n 20 -- "$1" >&2
}
