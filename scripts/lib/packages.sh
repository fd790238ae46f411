# shellcheck shell=bash
# The distribution's packages: each is judged by what it gives, and only the missing ones are installed.

have_header() {
    local folder
    for folder in /usr/include /usr/local/include /usr/include/*-linux-gnu*; do
        [ -e "$folder/$1" ] && return 0
    done
    return 1
}

have_library() {
    local file
    for file in /usr/lib/"$1" /usr/lib64/"$1" /usr/local/lib/"$1" /usr/lib/*-linux-gnu*/"$1"; do
        [ -e "$file" ] && return 0
    done
    return 1
}

have_command() { command -v "$1" >/dev/null 2>&1; }

# The toolchain's own programs name the shared libraries that they cannot find.
packages_missing_to_toolchain() {
    local library
    ldd "$(dirname -- "$(readlink -f -- "$(command -v swift)")")/swift-build" 2>/dev/null |
        awk '/=> not found/ { print $1 }' | while read -r library; do
            case "$library" in
            libncurses.so.6) echo libncurses6 ;;
            libsqlite3.so.0) echo libsqlite3-0 ;;
            libxml2.so.2) echo libxml2 ;;
            esac
        done
    # It links with the C compiler's start files and the C++ library.
    compgen -G '/usr/lib/gcc/*/*/crtbegin.o' >/dev/null && have_command ld && have_header stdio.h || echo g++
}

packages_missing_to_run() {
    cluster_find_programs || echo postgresql
    have_command curl || echo curl
    have_command jq || echo jq
}

packages_missing_to_build() {
    packages_missing_to_toolchain
    have_command git || echo git
    [ -s /etc/ssl/certs/ca-certificates.crt ] || echo ca-certificates
    have_command pkg-config || echo pkg-config
    # SwiftPM asks pkg-config, so a header that pkg-config does not know would not help.
    pkg-config --cflags libpq >/dev/null 2>&1 || echo libpq-dev
    have_header openssl/ssl.h || echo libssl-dev
    have_header zlib.h || echo zlib1g-dev
    # Foundation loads libcurl; its headers matter only to a statically linked build.
    have_library libcurl.so.4 || have_header curl/curl.h || echo libcurl4-openssl-dev
}

packages_missing_to_sbom() { have_command jq || echo jq; }

packages_missing_to_bench() {
    have_command wrk || echo wrk
    have_command nginx || [ -x /usr/sbin/nginx ] || echo nginx
    packages_missing_to_venv
}

packages_missing_to_venv() { python3 -c 'import venv, ensurepip' 2>/dev/null || echo python3-venv; }

packages_missing_to_deploy() {
    [ -x /usr/bin/promtool ] || echo prometheus
    have_command kubectl || echo kubernetes-client
    have_command systemd-analyze || echo systemd
    have_command shellcheck || echo shellcheck
}

# The programs that the tests put between the relay and its database, and the browser that looks at its pages.
packages_missing_to_test() {
    have_command pgbouncer || [ -x /usr/sbin/pgbouncer ] || echo pgbouncer
    have_command openssl || echo openssl
    # Metrics are read by Prometheus' own checker, the console is tried in a real browser.
    [ -x /usr/bin/promtool ] || echo prometheus
    [ -x /usr/bin/chromium ] || echo chromium
    [ -x /usr/bin/chromedriver ] || echo chromium-driver
}

# Runs as root. Debian's postgresql package makes and starts a system cluster unless configured otherwise; the drop-in goes
# away again, so that a later installation by hand behaves as ever. Its pgbouncer package starts a service: not this time.
# shellcheck disable=SC2016
PACKAGES_INSTALL_PROGRAM='
set -e
export DEBIAN_FRONTEND=noninteractive
drop_in=/etc/postgresql-common/createcluster.d/receipt-relay.conf
policy=/usr/sbin/policy-rc.d
made_policy=
trap "rm -f $drop_in; [ -z \"\$made_policy\" ] || rm -f $policy" EXIT
trap "exit 130" INT TERM HUP
case " $* " in *" postgresql "*)
    mkdir -p "${drop_in%/*}"
    echo "create_main_cluster = false" > "$drop_in"
esac
# Nor is a service of nginx, pgbouncer or prometheus to start because its program is wanted.
case " $* " in *" nginx "* | *" pgbouncer "* | *" prometheus "*)
    if [ ! -e "$policy" ]; then
        made_policy=yes
        printf "%s\n" "#!/bin/sh" "for word; do" "case \$word in nginx* | pgbouncer* | prometheus*) exit 101 ;; esac" done "exit 0" > "$policy"
        chmod 755 "$policy"
    fi
esac
apt-get -q -o DPkg::Lock::Timeout=300 update || echo "apt-get update failed; going on with the lists at hand" >&2
apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@"
for service in pgbouncer prometheus; do
    case " $* " in *" $service "*)
        deb-systemd-helper disable "$service.service" > /dev/null 2>&1 || true
        update-rc.d "$service" disable > /dev/null 2>&1 || true
    esac
done
'

# packages_ensure run|build|bench|deploy|sbom|test|venv…
packages_ensure() {
    local purpose missing=()
    for purpose in "$@"; do
        mapfile -t -O "${#missing[@]}" missing < <("packages_missing_to_$purpose")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0

    local by_hand="apt-get update && apt-get install --no-install-recommends ${missing[*]}"
    have_command apt-get || die "missing, and no apt-get here to install it: ${missing[*]}"
    step "Installing what is missing: ${missing[*]}"
    if [ "$(id -u)" -eq 0 ]; then
        sh -c "$PACKAGES_INSTALL_PROGRAM" install "${missing[@]}" || die "could not install; by hand: $by_hand"
    elif have_command sudo; then
        sudo sh -c "$PACKAGES_INSTALL_PROGRAM" install "${missing[@]}" || die "could not install; by hand: $by_hand"
    else
        die "missing packages, and neither root nor sudo to install them. Run once as root: $by_hand"
    fi

    missing=()
    for purpose in "$@"; do
        mapfile -t -O "${#missing[@]}" missing < <("packages_missing_to_$purpose")
    done
    [ "${#missing[@]}" -eq 0 ] || die "still missing after the installation: ${missing[*]}"
}
