# shellcheck shell=bash
# The Swift toolchain, and the one set of build flags that scripts/run and scripts/test share: a second set would
# compile every dependency a second time.

toolchain_find() {
    local folder
    if ! command -v swift >/dev/null 2>&1; then
        for folder in "$HOME/.local/share/swiftly/bin" "$HOME/.swiftly/bin" \
            /usr/local/swift/usr/bin /usr/share/swift/usr/bin; do
            [ -x "$folder/swift" ] && PATH="$folder:$PATH" && break
        done
    fi
    command -v swift >/dev/null 2>&1 ||
        die "no Swift toolchain found on PATH; Swift 6.2 or newer is needed: https://www.swift.org/install/linux/"
    [ -z "${CI:-}" ] || export RELAY_WARNINGS_AS_ERRORS=1
}

# toolchain_build CONFIGURATION [arguments…]
#
# SwiftPM passes a package's traits on in the order of a set. In a random order each build would compile Hummingbird, and all that imports
# it, anew.
toolchain_build() {
    local configuration=$1
    shift
    run_in_session env SWIFT_DETERMINISTIC_HASHING=1 swift build -c "$configuration" "$@" || die "swift build failed"
}

# The features that a build can be without (RELAY_WITHOUT), with commas between.
toolchain_features() {
    sed -n 's/^let features = \[\(.*\)\]$/\1/p' "$PROJECT/Package.swift" | tr -d '" ' | tr '[:upper:]' '[:lower:]' | grep . ||
        die "Package.swift has no line \"let features = [\""
}

toolchain_bin_dir() { swift build -c "$1" --show-bin-path; }
