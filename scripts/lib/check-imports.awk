# scripts/check-imports gives this ARCHITECTURE.md, Package.swift, and on standard input the folders and the import lines.

FNR == 1 { file++ }

# --- ARCHITECTURE.md: the table of targets, and the fenced block of short names for several modules.

file == 1 && /^```modules/ { inBlock = 1; next }
file == 1 && inBlock && /^```/ { inBlock = 0; next }
file == 1 && inBlock {
    if (split($0, side, "=") != 2) cannotRun("ARCHITECTURE.md:" FNR ": a line of the block is NAME = MODULE …")
    group[trim(side[1])] = trim(side[2])
    next
}
file == 1 && /^\|/ {
    split($0, cell, "|")
    if (trim(cell[2]) == "target") {
        ownColumn = column("may import"); otherColumn = column("from packages")
        if (!ownColumn || !otherColumn) cannotRun("ARCHITECTURE.md:" FNR ": no column \"may import\" or \"from packages\"")
        inTable = 1
    } else if (inTable && cell[2] !~ /^[ :-]*$/) {
        name = trim(cell[2])
        if (name in rank) fail("ARCHITECTURE.md:" FNR ": two rows for " name)
        rank[name] = ++rows; order[rows] = name; line[name] = FNR
        own[name] = names(cell[ownColumn]); other[name] = names(cell[otherColumn])
    }
    next
}
file == 1 { inTable = 0; next }

# --- Package.swift: one text without comments.

file == 2 {
    if (match($0, /(^|[^:])\/\//)) $0 = substr($0, 1, RSTART + RLENGTH - 3)
    if ($0 ~ /^    targets: \[/) manifestStart = length(manifest) + index($0, "[") + 1
    manifest = manifest $0 " "
    next
}

# --- Standard input.

/^folder:/ { split($0, part, ":"); folder[part[2]] = 1; home[part[2]] = part[3]; next }
{
    split($0, part, ":")
    path = part[1]; number = part[2]
    text = substr($0, length(path) + length(number) + 3)
    sub(/.*import[ \t]+/, "", text)
    sub(/^(struct|class|enum|protocol|func|var|let|typealias|actor)[ \t]+/, "", text)
    sub(/[^A-Za-z0-9_].*/, "", text)
    split(path, folders, "/")
    target = folders[2] in folder ? folders[2] : folders[3]
    if (!seen[path]++) files++
    found++
    foundTarget[found] = target; foundModule[found] = text; foundAt[found] = path ":" number
    if (!((target, text) in imports)) imports[target, text] = path ":" number
}

END {
    if (failedToRead) exit 3
    if (!rows) cannotRun("ARCHITECTURE.md has no table whose first column is \"target\"")
    if (!manifestStart) cannotRun("Package.swift has no line \"    targets: [\"")
    if (failedToRead) exit 3
    readProducts(); readTargets()

    for (name in folder) if (!(name in rank)) fail(source(name) ": no row in the table of targets in ARCHITECTURE.md")
    for (i = 1; i <= rows; i++) if (!(order[i] in folder)) fail(row(order[i]) ": there is no such folder under Sources/")
    for (i = 1; i <= rows; i++) checkRow(order[i])
    for (i = 1; i <= found; i++) if (!(foundTarget[i] in folder)) fail(foundAt[i] ": stands in no target's folder")
    for (i = 1; i <= found; i++) if (foundTarget[i] in rank) checkImport(foundTarget[i], foundModule[i], foundAt[i])
    for (i = 1; i <= rows; i++) checkManifest(order[i])

    if (failures) {
        printf "error: %d of the imports and dependencies do not agree with the table of targets in ARCHITECTURE.md\n", failures > "/dev/stderr"
        exit 1
    }
    printf "    %d targets, %d files with imports: all of them allowed by ARCHITECTURE.md\n", rows, files
}

function checkRow(name,    list, n, i) {
    n = split(own[name], list, " ")
    for (i = 1; i <= n; i++) {
        if (list[i] == "any") continue
        if (!(list[i] in rank)) fail(row(name) ": allows " list[i] ", which has no row")
        else if (home[name] == "Base" && home[list[i]] != "Base") fail(row(name) ": Base may not know " list[i])
        else if (home[list[i]] == "Features") fail(row(name) ": only the executable may know the feature " list[i])
        else if (rank[list[i]] >= rank[name]) fail(row(name) ": allows " list[i] ", which does not stand above it")
        if (!((name, list[i]) in imports) && !((name, list[i]) in depends))
            fail(row(name) ": allows " list[i] ", which no file of " source(name) " imports")
    }
    n = split(other[name], list, " ")
    for (i = 1; i <= n; i++)
        if (!usesAny(name, list[i])) fail(row(name) ": allows " list[i] ", which no file of " source(name) " imports")
}

function checkImport(name, module, at) {
    if (isAllowed(name, module)) {
        if (module in rank && module != name && !((name, module) in depends) && !((name, module) in reported)) {
            reported[name, module] = 1
            fail(at ": imports " module ", which Package.swift does not list for " name)
        }
        return
    }
    fail(at ": imports " module ", which the row of " name " does not allow: " allowance(name, module))
}

function checkManifest(name,    list, n, i) {
    n = split(dependencies[name], list, " ")
    for (i = 1; i <= n; i++) {
        if (!isAllowed(name, list[i]))
            fail("Package.swift: " name " depends on " list[i] ", which its row does not allow: " allowance(name, list[i]))
        else if (!((name, list[i]) in imports) && !usesAny(name, groupOf(list[i])))
            fail("Package.swift: " name " depends on " list[i] ", which no file of " source(name) " imports")
    }
}

function isAllowed(name, module,    list, n, i) {
    if (module in rank) {
        if (hasWord(own[name], module)) return 1
        return hasWord(own[name], "any") && rank[module] < rank[name]
    }
    if (hasWord(group["Toolchain"], module)) return 1
    n = split(other[name], list, " ")
    for (i = 1; i <= n; i++) if (hasWord(modules(list[i]), module)) return 1
    return 0
}

# Whether a file of the target imports one of the modules that a name of the table stands for.
function usesAny(name, short,    list, n, i) {
    n = split(modules(short), list, " ")
    for (i = 1; i <= n; i++) if ((name, list[i]) in imports) return 1
    return 0
}

function modules(short) { return short in group ? group[short] : short }

function groupOf(module,    short) {
    for (short in group) if (hasWord(group[short], module)) return short
    return module
}

function allowance(name, module,    text) {
    text = module in rank ? own[name] : other[name]
    return row(name) ", " (text == "" ? "none" : text)
}

function source(name) { return "Sources/" (home[name] == "" ? "" : home[name] "/") name }

function row(name) { return "ARCHITECTURE.md:" line[name] }

# let name = ….product(name: "Product", …)
function readProducts(    text, one, variable) {
    text = manifest
    while (match(text, /let [A-Za-z0-9_]+ = [A-Za-z.]*product\([ ]*name: "[A-Za-z0-9_]+"/)) {
        one = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        variable = one; sub(/^let /, "", variable); sub(/ .*/, "", variable)
        sub(/.*name: "/, "", one); sub(/"$/, "", one)
        product[variable] = one
    }
}

# The elements of `targets: [ … ]`.
function readTargets(    i, character, depth, inString, element) {
    for (i = manifestStart; i <= length(manifest); i++) {
        character = substr(manifest, i, 1)
        if (character == "\"") inString = !inString
        if (!inString) {
            if (character ~ /[[({]/) depth++
            if (character ~ /[])}]/ && --depth < 0) break
            if (character == "," && !depth) { readTarget(element); element = ""; continue }
        }
        element = element character
    }
    readTarget(element)
}

function readTarget(text,    name) {
    if (!match(text, /"[A-Za-z0-9_]+"/)) return
    name = substr(text, RSTART + 1, RLENGTH - 2)
    text = substr(text, RSTART + RLENGTH)
    # Tests and what stands elsewhere are none of this table's.
    if (!(name in folder) || text ~ /path:/ && text !~ /path:[ ]*"Sources\//) return
    gsub(/(package|in):[ ]*"[^"]*"/, "", text)
    sub(/(path|exclude|sources|resources|publicHeadersPath|pkgConfig|providers|[a-z]+Settings|plugins):.*/, "", text)
    while (match(text, /"[A-Za-z0-9_]+"|[A-Za-z_][A-Za-z0-9_]*/)) {
        addDependency(name, substr(text, RSTART, RLENGTH))
        text = substr(text, RSTART + RLENGTH)
    }
}

function addDependency(name, token) {
    if (token ~ /^"/) token = substr(token, 2, length(token) - 2)
    else if (token in product) token = product[token]
    else return
    if ((name, token) in depends) return
    depends[name, token] = 1
    dependencies[name] = dependencies[name] " " token
}

function column(title,    i) {
    for (i in cell) if (trim(cell[i]) == title) return i
    return 0
}

# A cell's names, without marks and commas.
function names(text) {
    gsub(/[`, ]+/, " ", text)
    text = trim(text)
    return text ~ /^(-|–|—)$/ ? "" : text
}

function trim(text) {
    gsub(/`/, "", text)
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}

function hasWord(text, word) { return index(" " text " ", " " word " ") > 0 }

function fail(what) {
    failures++
    print "error: " what > "/dev/stderr"
}

function cannotRun(what) {
    print "error: " what > "/dev/stderr"
    failedToRead = 1
    exit 3
}
