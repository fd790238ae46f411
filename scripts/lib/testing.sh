# shellcheck shell=bash
# Runs of the tests' executable, what failed in them, and whether that fails alone too.
#
# The executable is called directly, as `swift test` calls it: two of `swift test` at once lock each other out of the build's database.
# Each run writes the test runner's events, a JSON value a line, to .local/run.PID/NAME.events. The names of tests come from
# there: the lines that the runner prints do not say which suite a test belongs to.

# A test that fails in a run and passes alone is unstable. More of them than this fail the whole.
TEST_UNSTABLE_LIMIT=3
TEST_UNSTABLE_FILE="$LOCAL_FOLDER/unstable.txt"
TEST_COUNT=0
TEST_SKIPPED=0

# What test_calibrate took on the machine for which the limits in the tests are chosen (two cores, nothing else running), in milliseconds.
TEST_REFERENCE=750

# test_calibrate: sets RELAY_TEST_PACE, by which every limit is multiplied: how many times longer than on that machine a loop and some
# processes on each core take, all at once. From 1 to 10, with two digits.
test_calibrate() {
    local core begun=${EPOCHREALTIME//[.,]/} pace
    for ((core = 0; core < $(getconf _NPROCESSORS_ONLN); core++)); do
        # shellcheck disable=SC2016 # the inner shell expands it
        bash -c 'for ((i = 0; i < 300000; i++)); do :; done; for ((i = 0; i < 150; i++)); do /bin/true; done' 8>&- 9>&- &
    done
    wait
    pace=$(((${EPOCHREALTIME//[.,]/} - begun) / (TEST_REFERENCE * 10)))
    pace=$((pace < 100 ? 100 : pace > 1000 ? 1000 : pace))
    printf -v RELAY_TEST_PACE '%d.%02d' $((pace / 100)) $((pace % 100))
    export RELAY_TEST_PACE
}

# test_cluster CONNECTIONS: nothing of it outlives the tests, so it need not be safe on disk. Statements are counted only for
# tests that ask for it. Sets what the tests find it by.
test_cluster() {
    cluster_find_counting
    cluster_find_memory
    workspace_lock
    cluster_start "max_connections = $1" 'fsync = off' 'synchronous_commit = off' 'full_page_writes = off' \
        ${CLUSTER_COUNTING[@]+"${CLUSTER_COUNTING[@]}"}
    workspace_unlock
    RELAY_TEST_DATABASE_URL=$(cluster_url postgres)
    export RELAY_TEST_DATABASE_URL RELAY_TEST_MEMORY=$CLUSTER_MEMORY
}

# test_seconds NAME: how long a run may take, at least twice what it takes at this machine's pace. A test that hangs ends its run so.
test_seconds() {
    local seconds
    case "$1" in
    quick) seconds=150 ;;
    alone) seconds=240 ;; # above the longest limit that a test sets itself
    *) seconds=${RELAY_TEST_ALL:+1800} ;;
    esac
    # A number of two digits, without its point.
    echo $((${seconds:-720} * ${RELAY_TEST_PACE/./} / 100))
}

# test_run NAME WIDTH [arguments of swift test…]: one run, with that many tests at once. Prints what failed once more at its end.
test_run() {
    local name=$1 width=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-$2}
    shift 2
    local command=(timeout --kill-after 10 "$(test_seconds "$name")" env "SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$width" "$RELAY_BIN_DIR/receipt-relayPackageTests.xctest"
        --testing-library swift-testing --event-stream-version 0 --event-stream-output-path "$RUN_FOLDER/$name.events" "$@")
    local status=0
    if [ -t 1 ]; then
        SESSION="9-$name" run_in_session "${command[@]}" || status=$?
    else
        # shellcheck disable=SC2016 # the inner shell expands it
        NO_COLOR=1 SESSION="9-$name" run_in_session bash -o pipefail -c '"$@" 2>&1 | awk -f scripts/lib/failures-last.awk' \
            test "${command[@]}" || status=$?
    fi
    # Status 124 and 137 are those of `timeout`.
    case "$status" in
    124 | 137) : >"$RUN_FOLDER/$name.stopped" ;;
    *) rm -f -- "$RUN_FOLDER/$name.stopped" ;;
    esac
    return "$status"
}

# test_unfinished NAME: the tests that a run had begun when it ended before its time, a line each; nothing where it came to its end.
test_unfinished() {
    [ -s "$RUN_FOLDER/$1.events" ] || return 0
    # The last line of a run that crashed may be cut off.
    jq -Rrn '
        reduce (inputs | fromjson?) as {$kind, $payload} ({ended: false, functions: {}, open: {}};
            if $kind == "test" and $payload.kind == "function" then .functions[$payload.id] = true
            elif $kind != "event" then .
            elif $payload.kind == "runEnded" then .ended = true
            elif $payload.kind == "testStarted" and .functions[$payload.testID] then .open[$payload.testID] = true
            elif $payload.kind == "testEnded" then del(.open[$payload.testID])
            else . end)
        | select(.ended | not) | .open | keys[]' "$RUN_FOLDER/$1.events"
}

# test_not_begun NAME: how many tests a run had planned and not begun.
test_not_begun() {
    jq -Rrn '
        reduce (inputs | fromjson?) as $line ({};
            if $line.kind == "test" and $line.payload.kind == "function" then .[$line.payload.id] = true
            elif $line.kind == "event" and ($line.payload.kind | . == "testStarted" or . == "testSkipped")
            then del(.[$line.payload.testID])
            else . end)
        | length' "$RUN_FOLDER/$1.events"
}

# test_failures NAME: the tests that failed in a run, a line each: its id, a tab, its first message. A test that its run's time limit ended
# has failed.
test_failures() {
    [ -s "$RUN_FOLDER/$1.events" ] || return 0
    {
        jq -Rrn '
            reduce (inputs | fromjson? | select(.kind == "event") | .payload
                | select(.kind == "issueRecorded" and (.issue.isKnown | not) and .issue.isFailure != false)) as $event ({};
                ($event.testID // "?") as $test
                | if has($test) then .
                  else .[$test] = ([$event.messages[]?.text] | join(" ") | gsub("\\s+"; " ") | .[:600]) end)
            | to_entries[] | "\(.key)\t\(.value)"' "$RUN_FOLDER/$1.events"
        if [ -e "$RUN_FOLDER/$1.stopped" ]; then
            test_unfinished "$1" | sed "s/\$/\tdid not end within the $(test_seconds "$1") s of its run/"
        fi
    } | awk -F '\t' '!seen[$1]++'
}

# test_count NAME: how many tests a run began, without the suites.
test_count() {
    [ -s "$RUN_FOLDER/$1.events" ] || { echo 0 && return 0; }
    jq -Rrn '
        reduce (inputs | fromjson?) as $line ({functions: {}, begun: 0};
            if $line.kind == "test" and $line.payload.kind == "function" then .functions[$line.payload.id] = true
            elif $line.kind == "event" and $line.payload.kind == "testStarted" and .functions[$line.payload.testID]
            then .begun += 1 else . end)
        | .begun' "$RUN_FOLDER/$1.events"
}

# test_skipped NAME: how many tests a run skipped.
test_skipped() {
    jq -Rrn 'reduce (inputs | fromjson? | select(.kind == "event" and .payload.kind == "testSkipped")) as $_ (0; . + 1)' \
        "$RUN_FOLDER/$1.events"
}

# test_alone ID: whether a test passes when it runs by itself, in one of two tries. One that hangs has no second one.
test_alone() {
    local filter
    filter="^$(printf '%s' "$1" | sed 's/[][\.*^$()+?{}|/]/\\&/g')"
    for _ in 1 2; do
        rm -f -- "$RUN_FOLDER/alone.events"
        test_run alone 1 --filter "$filter" && [ "$(test_count alone)" -gt 0 ] && return 0
        [ ! -e "$RUN_FOLDER/alone.stopped" ] || return 1
    done
    return 1
}

# test_complete NAME: whether a run began tests and came to its end, or to its time limit with all tests begun. Says what is wrong with it
# otherwise.
test_complete() {
    if [ -e "$RUN_FOLDER/$1.stopped" ] && [ -n "$(test_unfinished "$1")" ] && [ "$(test_not_begun "$1")" -eq 0 ]; then
        complain "the run \"$1\" was stopped after $(test_seconds "$1") s"
    elif ! grep -q '"kind":"runEnded"' "$RUN_FOLDER/$1.events" 2>/dev/null; then
        complain "the run \"$1\" ended before its time: see its last lines above. These tests were under way:"
        test_unfinished "$1" >&2
        return 1
    fi
    [ "$(test_count "$1")" -gt 0 ] || { complain "the run \"$1\" has no tests: its filter matches none" && return 1; }
}

# test_verdict STATUS NAME…: what the runs by these names come to, where STATUS is the worst exit status among them. What failed runs again
# alone. Returns 0 if all of it passes then.
test_verdict() {
    local status=$1 name id message failed unstable failures="$RUN_FOLDER/failures"
    shift
    : >"$failures"
    for name in "$@"; do
        test_failures "$name" >>"$failures"
    done
    failed=$(wc -l <"$failures")
    for name in "$@"; do
        if ! test_complete "$name"; then
            cut -c 1-400 "$failures" >&2
            return 1
        fi
        TEST_COUNT=$((TEST_COUNT + $(test_count "$name")))
        TEST_SKIPPED=$((TEST_SKIPPED + $(test_skipped "$name")))
    done
    if [ "$failed" -eq 0 ]; then
        [ "$status" -eq 0 ] || complain "the test runner ended with $status and named no test: see its last lines above"
        return "$status"
    fi
    unstable=$(wc -l <"$TEST_UNSTABLE_FILE")
    if [ $((unstable + failed)) -gt "$TEST_UNSTABLE_LIMIT" ]; then
        complain "$failed tests failed, $unstable were unstable before:"
        cut -c 1-400 "$failures" >&2
        return 1
    fi
    step "Running what failed again, alone"
    while IFS=$'\t' read -r id message <&7; do
        if ! test_alone "$id"; then
            complain "fails alone too: $id: $message"
            return 1
        fi
        printf 'unstable: %s: %s\n' "$id" "$message" >>"$TEST_UNSTABLE_FILE"
    done 7<"$failures"
}

# test_summary: the last lines of a run that passed.
test_summary() {
    local unstable=''
    if [ -s "$TEST_UNSTABLE_FILE" ]; then
        cat -- "$TEST_UNSTABLE_FILE"
        unstable=", $(wc -l <"$TEST_UNSTABLE_FILE") of them unstable: ${TEST_UNSTABLE_FILE#"$PROJECT/"}"
    fi
    [ "$TEST_SKIPPED" -eq 0 ] || say "$TEST_SKIPPED skipped$([ -n "${RELAY_TEST_ALL:-}" ] || echo ': scripts/test --all runs them')"
    say "$TEST_COUNT tests passed in $SECONDS s$unstable"
}
