#!/usr/bin/env bash
# Slow heads, slow bodies and slow readers (slowhttptest) against the release gateway with short timers, while normal load
# runs: the attackers must be ended by the timers, and the normal load must see no error. `./dev slow` builds what this
# needs. SLOW_CONNECTIONS: attackers of each kind (default 2000, or what the descriptors allow).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

binaries=${SLOW_BINARIES:-$PWD/build/release}
timer=4       # seconds: timeouts.header, body_grace and write of the gateway under attack
slack=3       # beyond ramp and timer: a sweep, a tick of slowhttptest, a busy machine
load_connections=8
rate=1000     # connections a second
scratch=$(mktemp -d)
children=()
failed=0

stop() {
    trap - EXIT
    if [ "${#children[@]}" -gt 0 ]; then
        kill "${children[@]}" 2>/dev/null || true
        wait "${children[@]}" 2>/dev/null || true
    fi
    rm -rf "$scratch"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

die() {
    echo "slow: $*" >&2
    exit 2
}

complain() {
    echo "slow: FAILED: $*" >&2
    failed=1
}

# One connection of the attack needs a descriptor here and one in the gateway, which gives callers 45 % of its own.
attackers() {
    local descriptors most
    descriptors=$(ulimit -n)
    most=$(((descriptors - 16) * 45 / 100 - 100))
    if [ "${SLOW_CONNECTIONS:-2000}" -lt "$most" ]; then
        most=${SLOW_CONNECTIONS:-2000}
    fi
    [ "$most" -ge 50 ] || die "ulimit -n is $descriptors: too few"
    echo "$most"
}

# start_agent NAME BYTES: an agent whose answers have so many bytes; sets `port`.
start_agent() {
    mkfifo "$scratch/$1"
    "$binaries/bench_upstream" --body "$2" >"$scratch/$1" &
    children+=("$!")
    read -r -t 10 port <"$scratch/$1" || die "the agent did not start"
}

member() { sed -nE "s/.*\"$2\":\"([^\"]*)\".*/\1/p" <<<"$1"; }

start_gateway() {
    local line
    cat >"$scratch/cardea.yml" <<END
listen: 127.0.0.1:0
admin: 127.0.0.1:0
log: {level: warn}
timeouts: {header: ${timer}s, body: 1m, body_grace: ${timer}s, write: ${timer}s, idle: 1m}
agents:
  quick: {url: "http://127.0.0.1:$quick/"}
  large: {url: "http://127.0.0.1:$large/", relay_paths: ["/**"]}
END
    "$binaries/cardea" run -c "$scratch/cardea.yml" --store memory 2>"$scratch/cardea.log" &
    children+=("$!")
    for _ in $(seq 100); do
        line=$(grep -m 1 '"event":"listening"' "$scratch/cardea.log" || true)
        [ -z "$line" ] || break
        sleep 0.1
    done
    [ -n "$line" ] || die "the gateway did not start: $(head -c 1000 "$scratch/cardea.log")"
    traffic=$(member "$line" traffic)
    admin=$(member "$line" admin)
}

# metric SERIES: its value, 0 if it is not there.
metric() {
    local page
    page=$(curl -sS --max-time 5 "http://$admin/metrics") || die "the admin listener does not answer"
    awk -v wanted="$1" '$1 == wanted { value = $2 } END { print value + 0 }' <<<"$page"
}

# load SECONDS NAME: calls through the gateway; what wrk says goes to a file.
load() {
    wrk -t1 -c"$load_connections" -d"$1s" --timeout 5s --latency -s "$scratch/call.lua" "http://$traffic/agents/quick" >"$scratch/$2.wrk" 2>&1
}

write_call() {
    cat >"$scratch/call.lua" <<'END'
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"jsonrpc":"2.0","id":2,"method":"message/send","params":{}}'
END
}

figures() {
    awk '/Requests\/sec/ { rate = $2 } $1 == "99%" { p99 = $2 } $2 == "requests" { all = $1 }
        END { printf "%s calls, %s a second, p99 %s", all, rate, p99 }' "$scratch/$1.wrk"
}

check_load() {
    grep -q '^Requests/sec' "$scratch/$1.wrk" || complain "$1: no load ran: $(cat "$scratch/$1.wrk")"
    if grep -E 'Socket errors|Non-2xx' "$scratch/$1.wrk" >&2; then
        complain "$1: the normal load saw errors"
    fi
}

# The connections that the gateway has besides those of the normal load.
others_open() { echo $(($(metric cardea_connections_open) - load_connections)); }

# attack NAME COUNT OPTION...: all of its connections are to be ended by the gateway in time. The gateway's own count tells:
# a slow reader does not look whether it has been reset.
attack() {
    local name=$1 count=$2 began took most open peak=0
    shift 2
    most=$((count / rate + timer + slack))
    load $((most + 2)) "$name" &
    local load_id=$!
    sleep 1
    began=$(date +%s%N)
    slowhttptest -c "$count" -r "$rate" -l $((most + 10)) -p 5 "$@" >"$scratch/$name.out" 2>&1 &
    local attack_id=$!
    while :; do
        sleep 0.1
        took=$((($(date +%s%N) - began) / 1000000))
        open=$(others_open)
        if [ "$open" -gt "$peak" ]; then
            peak=$open
        fi
        if [ "$took" -gt $((most * 1000)) ] || { [ "$peak" -ge "$count" ] && [ "$open" -le 0 ]; }; then
            break
        fi
    done
    kill "$attack_id" 2>/dev/null || true
    wait "$attack_id" "$load_id" || true
    [ "$peak" -ge "$count" ] || complain "$name: only $peak attackers at once: $(tail -n 15 "$scratch/$name.out" | tr -d "\\0")"
    [ "$open" -le 0 ] || complain "$name: $open connections outlived the timers"
    [ "$took" -ge $((timer * 1000)) ] || complain "$name: over after $took ms, before any timer: nothing was tested"
    check_load "$name"
    echo "$name: $peak attackers at once, the last ended after $took ms; meanwhile $(figures "$name")"
}

main() {
    local count quick large
    count=$(attackers)
    start_agent quick 1024
    quick=$port
    start_agent large 200000
    large=$port
    start_gateway
    write_call
    load 3 alone
    check_load alone
    echo "alone: $(figures alone)"

    attack slow_head "$count" -H -i 1 -x 8 -u "http://$traffic/agents/quick"
    echo "slow_head: $(metric 'cardea_http_requests_total{route="none",method="none",code="408"}') answers with 408"
    attack slow_body "$count" -B -i 1 -x 8 -s 4096 -f application/json -u "http://$traffic/agents/quick"
    echo "slow_body: $(metric 'cardea_http_requests_total{route="call",method="POST",code="408"}') answers with 408"
    attack slow_read "$count" -X -k 10 -w 10 -y 20 -n 5 -z 32 -u "http://$traffic/agents/large/answer"
    echo "slow_read: $(metric 'cardea_http_requests_total{route="relay",method="GET",code="499"}') answers given up"
    [ "$(metric cardea_connections_refused_total)" = 0 ] || complain "connections were refused: the attack was too large"
    if [ "$(metric cardea_connections_open)" != 0 ]; then
        complain "connections are left open"
    fi
    [ "$failed" -eq 0 ] || exit 1
    echo "slow: passed"
}

main
