-- What both scripts share: reading a file, and what wrk measured as one line of JSON after its own words.
function contents(path)
    local file = assert(io.open(path, "rb"))
    local text = file:read("*a")
    file:close()
    return text
end

function done(summary, latency, requests)
    local errors = summary.errors
    io.write(string.format(
        '\nRESULT {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"max":%d,"refused":%d,"broken":%d}\n',
        summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency.max,
        errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
