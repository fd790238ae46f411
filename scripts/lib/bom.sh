# shellcheck shell=bash
# The parts of a software bill of materials (CycloneDX 1.6): each function writes an array of components. The format:
# https://cyclonedx.org/docs/1.6/json/

# bom_licence FILE: the SPDX expression of a licence's text; nothing where the text is none of these.
bom_licence() {
    local text
    text=$(tr -s '[:space:]' ' ' <"$1")
    case "$text" in
    *'Apache License Version 2.0, January 2004'*'Runtime Library Exception'*) echo 'Apache-2.0 WITH Swift-exception' ;;
    *'Apache License Version 2.0, January 2004'*) echo Apache-2.0 ;;
    *'Permission is hereby granted, free of charge, to any person obtaining a copy'*'THE SOFTWARE IS PROVIDED "AS IS"'*)
        echo MIT
        ;;
    *'Redistribution and use in source and binary forms'*'Neither the name'*) echo BSD-3-Clause ;;
    *'Redistribution and use in source and binary forms'*) echo BSD-2-Clause ;;
    esac
}

# bom_checkouts PACKAGES: "identity<TAB>folder" of each resolved package but this one.
bom_checkouts() { jq -r '[.dependencies[] | recurse(.dependencies[])] | unique_by(.identity)[] | [.identity, .path] | @tsv' "$1"; }

# bom_swift_packages PACKAGES RESOLVED: what `swift package show-dependencies` says, with the revisions of Package.resolved. The
# hash of a package is that of the commit that was checked out.
bom_swift_packages() {
    local identity folder file licences='{}' licence
    while IFS=$'\t' read -r identity folder; do
        licence=''
        for file in "$folder"/LICENSE "$folder"/LICENSE.txt "$folder"/LICENSE.md "$folder"/COPYING; do
            [ ! -f "$file" ] || licence=$(bom_licence "$file")
            [ -z "$licence" ] || break
        done
        licences=$(jq -c --arg identity "$identity" --arg licence "$licence" '.[$identity] = $licence' <<<"$licences")
    done < <(bom_checkouts "$1")
    jq --slurpfile resolved "$2" --argjson licences "$licences" '
        ($resolved[0].pins | map({key: .identity, value: .}) | from_entries) as $pins
        | [.dependencies[] | recurse(.dependencies[])] | unique_by(.identity) | map(
            $pins[.identity] as $pin
            | ($pin.location | sub("\\.git$"; "") | sub("^[a-z]+://"; "")) as $place
            | ($pin.state.version // $pin.state.revision) as $version
            | {
                type: "library", "bom-ref": "swift:\(.identity)", group: ($place | sub("/[^/]*$"; "")), name, version: $version,
                hashes: [{alg: "SHA-1", content: $pin.state.revision}],
                licenses: (if $licences[.identity] == "" then null else [{expression: $licences[.identity]}] end),
                purl: "pkg:swift/\($place)@\($version)",
                externalReferences: [{type: "vcs", url: $pin.location}]
            } | del(.[] | nulls))' "$1"
}

# bom_component PARENT NAME VERSION PURL URL: something that a Swift package has copied into itself.
bom_component() {
    jq -nc --arg parent "$1" --arg name "$2" --arg version "$3" --arg purl "$4" --arg url "$5" '{
        type: "library", "bom-ref": "carried:\($parent):\($name)", name: $name, version: $version, purl: $purl,
        externalReferences: [{type: "vcs", url: $url}],
        properties: [{name: "carried-by", value: "swift:\($parent)"}]
    }'
}

# bom_carried PACKAGES: copies of other projects' sources, where a file beside them says of which version they are.
bom_carried() {
    local identity folder file version url=https://boringssl.googlesource.com/boringssl
    while IFS=$'\t' read -r identity folder; do
        for file in "$folder"/Sources/*BoringSSL/hash.txt; do
            [ -f "$file" ] || continue
            version=$(grep -oE '[0-9a-f]{40}' "$file" | head -n 1)
            bom_component "$identity" boringssl "$version" "pkg:generic/boringssl@$version?vcs_url=git%2B$url%40$version" "$url"
        done
        for file in "$folder"/Sources/*LLHTTP/include/*llhttp.h; do
            [ -f "$file" ] || continue
            version=$(awk '/define LLHTTP_VERSION_(MAJOR|MINOR|PATCH)/ { printf "%s%s", dot, $3; dot = "." }' "$file")
            bom_component "$identity" llhttp "$version" "pkg:github/nodejs/llhttp@v$version" https://github.com/nodejs/llhttp
        done
    done < <(bom_checkouts "$1") | jq -s .
}

# bom_library_paths NAME…: where the dynamic linker has them.
bom_library_paths() {
    local name
    for name; do
        "$(command -v ldconfig || echo /sbin/ldconfig)" -p | awk -v name="$name" '$1 == name { print $NF; exit }'
    done
}

# bom_loaded FILE…: these, where they are libraries, and each library that the dynamic linker would load for them.
bom_loaded() {
    local file
    for file; do
        case "$file" in *.so | *.so.*) printf '%s\n' "$file" ;; esac
        ldd "$file" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }'
    done | sort -u
}

# bom_runtime: of the libraries on standard input those of the Swift toolchain, as one component. An executable that has them inside
# (--static-swift-stdlib) has the same ones.
bom_runtime() {
    local version licence='' text
    version=$(swift --version 2>/dev/null | sed -n 's/.*(swift-\([0-9.]*\)-RELEASE).*/\1/p' | head -n 1)
    text=$(dirname -- "$(readlink -f -- "$(command -v swift)")")/../share/swift/LICENSE.txt
    [ ! -f "$text" ] || licence=$(bom_licence "$text")
    { grep -F /lib/swift/ || true; } | sed 's|.*/||' | jq -R . | jq -s --arg version "$version" --arg licence "$licence" '[{
        type: "framework", "bom-ref": "swift-runtime", group: "github.com/swiftlang", name: "swift",
        version: (if $version == "" then null else $version end),
        licenses: (if $licence == "" then null else [{expression: $licence}] end),
        purl: (if $version == "" then null else "pkg:github/swiftlang/swift@swift-\($version)-RELEASE" end),
        externalReferences: [{type: "website", url: "https://www.swift.org"}],
        properties: (if length == 0 then null else map({name: "library", value: .}) end)
    } | del(.[] | nulls)]'
}

# bom_debian: the packages of the distribution that the libraries on standard input belong to. No licence is claimed: theirs are
# in /usr/share/doc.
bom_debian() {
    local file package name version architecture distribution
    command -v dpkg-query >/dev/null 2>&1 || {
        warn "no dpkg-query here: the system's libraries are left out"
        echo '[]'
        return
    }
    # shellcheck source=/dev/null
    distribution=$(. /etc/os-release && printf '%s %s' "${ID:-debian}" "${VERSION_ID:-}")
    while read -r file; do
        case "$file" in */lib/swift/*) continue ;; esac
        # On a merged /usr the linker and dpkg may name a file differently.
        package=$(dpkg-query -S "$file" 2>/dev/null || dpkg-query -S "/usr$file" 2>/dev/null || dpkg-query -S "${file#/usr}" 2>/dev/null) ||
            { warn "no package has $file" && continue; }
        printf '%s\t%s\n' "${package%%: *}" "${file##*/}"
    done | sort -u | while IFS=$'\t' read -r package file; do
        # The fields are dpkg's own.
        # shellcheck disable=SC2016
        IFS=$'\t' read -r name version architecture < <(
            dpkg-query -W -f '${Package}\t${Version}\t${Architecture}\n' "$package")
        printf '%s\t%s\t%s\t%s\n' "$name" "$version" "$architecture" "$file"
    done | jq -R --arg distribution "$distribution" '
        split("\t") as [$name, $version, $architecture, $file] | ($distribution | split(" ")) as [$id, $release]
        | {
            type: "library", "bom-ref": "deb:\($name)", name: $name, version: $version,
            purl: "pkg:deb/\($id)/\($name | @uri)@\($version | @uri | gsub("%3A"; ":"))?arch=\($architecture)\(if $release == null or $release == "" then "" else "&distro=\($id)-\($release)" end)",
            properties: [{name: "library", value: $file}]
        }' | jq -s 'group_by(."bom-ref") | map(.[0] + {properties: (map(.properties[]) | unique)})'
}

# bom_document PACKAGES COMPONENTS…: all of it, with what needs what.
bom_document() {
    local packages=$1 now version revision identifier
    shift
    now=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%Y-%m-%dT%H:%M:%SZ)
    version=$(sed -n 's/.*static let version = "\([^"]*\)".*/\1/p' Sources/ReceiptRelay/Commands/ReceiptRelayCommand.swift)
    revision=$(git rev-parse HEAD 2>/dev/null || true)
    if [ -n "$revision" ] && [ -n "$(git status --porcelain 2>/dev/null)" ]; then
        warn "the checkout is not as it was committed: it has no revision of its own"
        revision=''
    fi
    # The same parts have the same name.
    identifier=$(cat -- "$@" | cat - <(printf '%s%s' "$now" "$revision") | sha256sum |
        sed 's/^\(.\{8\}\)\(.\{4\}\).\(.\{3\}\).\(.\{3\}\)\(.\{12\}\).*/\1-\2-5\3-a\4-\5/')
    jq -s --slurpfile packages "$packages" --arg now "$now" --arg version "$version" --arg revision "$revision" \
        --arg identifier "$identifier" '
        add as $components
        | ($components | map(select(."bom-ref" | startswith("carried:")))) as $carried
        | {
            "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", bomFormat: "CycloneDX", specVersion: "1.6",
            serialNumber: "urn:uuid:\($identifier)", version: 1,
            metadata: {
                timestamp: $now, tools: {components: [{type: "application", name: "scripts/sbom", version: $version}]},
                component: ({
                    type: "application", "bom-ref": "receipt-relay", name: "receipt-relay", version: $version,
                    licenses: [{license: {id: "Apache-2.0"}}], purl: "pkg:generic/receipt-relay@\($version)",
                    hashes: (if $revision == "" then null else [{alg: "SHA-1", content: $revision}] end)
                } | del(.[] | nulls))
            },
            components: $components,
            dependencies: (
                [{
                    ref: "receipt-relay",
                    dependsOn: (($packages[0].dependencies | map("swift:\(.identity)"))
                        + ($components | map(."bom-ref" | select(. == "swift-runtime" or startswith("deb:")))))
                }]
                + ([$packages[0].dependencies[] | recurse(.dependencies[])] | unique_by(.identity) | map(.identity as $identity | {
                    ref: "swift:\($identity)",
                    dependsOn: ((.dependencies | map("swift:\(.identity)"))
                        + ($carried | map(select(.properties[0].value == "swift:\($identity)") | ."bom-ref")) | unique)
                }))
                + ($components | map(."bom-ref" | select(startswith("swift:") | not) | {ref: ., dependsOn: []}))
            )
        }' "$@"
}
