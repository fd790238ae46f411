# Passes the test runner's lines on, and tells what failed once more before its closing line: in a long log of which somebody
# sees the end alone, that is where it is looked for.
function is_failure() { return /^✘ / || /recorded an issue/ }
/^✘ Test run with / {
    if (count) print "--- what failed"
    for (i = 1; i <= count; i++) print failures[i]
}
{ print; fflush() }
is_failure() { if (count < 60) failures[++count] = substr($0, 1, 800); next }
# What belongs to the failure above it.
/^↳ / { if (count && count < 60) failures[count] = failures[count] "\n" substr($0, 1, 400) }
