-- What wrk sends, from the environment: BENCH_BODY (a file: then it is a POST of it) or BENCH_ETAG (a conditional GET), and
-- BENCH_CREDENTIAL (header lines).
-- At the end one line for bench/run.sh: requests, microseconds, bytes, five kinds of errors, p50 and p99 in microseconds.
local body = os.getenv("BENCH_BODY")
if body == "" then
    body = nil
end
local etag = os.getenv("BENCH_ETAG")
local credential = os.getenv("BENCH_CREDENTIAL") or ""

wrk.headers["User-Agent"] = "bench"
wrk.headers["Accept"] = "application/json, text/event-stream"
if body then
    local file = assert(io.open(body, "rb"))
    wrk.method = "POST"
    wrk.body = file:read("*a")
    wrk.headers["Content-Type"] = "application/json"
    file:close()
end
for line in credential:gmatch("[^\n]+") do
    local name, value = line:match("^([^:]+): (.+)$")
    wrk.headers[name] = value
end
if etag then
    wrk.headers["If-None-Match"] = etag
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        "bench %d %d %d %d %d %d %d %d %d %d\n",
        summary.requests, summary.duration, summary.bytes,
        errors.connect, errors.read, errors.write, errors.status, errors.timeout,
        latency:percentile(50), latency:percentile(99)
    ))
end
