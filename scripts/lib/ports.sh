# shellcheck shell=bash
# Free TCP ports. Chosen under the start lock (workspace.sh), so that two starts at once do not choose the same.

PORTS_CHOSEN=' '

# The kernel's own table knows every listener on any address; a connection is the second witness.
port_taken() {
    local hex
    [[ "$PORTS_CHOSEN" != *" $1 "* ]] || return 0
    printf -v hex '%04X' "$1"
    if awk -v port="$hex" '$4 == "0A" { n = split($2, a, ":"); if (a[n] == port) found = 1 } END { exit !found }' \
        /proc/net/tcp /proc/net/tcp6 2>/dev/null; then
        return 0
    fi
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# port_check SETTING…: each, where it is set, is a port.
port_check() {
    local name port
    for name in "$@"; do
        port=${!name:-1}
        [[ "$port" =~ ^[1-9][0-9]{0,4}$ ]] && [ "$port" -le 65535 ] || usage_error "$name is not a port: $port"
    done
}

# port_choose VARIABLE WANTED PURPOSE: the wanted port, or the next free one above it.
port_choose() {
    local port=$2
    while port_taken "$port"; do
        port=$((port + 1))
        [ "$port" -le 65535 ] && [ "$port" -lt $(($2 + 200)) ] || die "no free port from $2 upwards for $3"
    done
    [ "$port" -eq "$2" ] || say "port $2 is taken: $3 uses $port"
    PORTS_CHOSEN+="$port "
    printf -v "$1" '%s' "$port"
}

# port_random VARIABLE: below the range that the kernel hands out to outgoing connections.
port_random() {
    local port
    while port=$((20000 + SRANDOM % 12000)); port_taken "$port"; do :; done
    PORTS_CHOSEN+="$port "
    printf -v "$1" '%s' "$port"
}
