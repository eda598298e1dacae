#!/usr/bin/env bash
# What an idle connection costs a proxy in memory: Cardea, nginx and HAProxy in the same run. bench/README.md says how to
# read it.
#   bench/memory.sh [--counts "N N..."] [--proxies "NAME..."]
# A stream that waits for its next event has two connections in the proxy, both counted; a kept connection has one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

binaries=${BENCH_BINARIES:-$PWD/build/shipped}
counts=(3000 8000)
proxies=(cardea nginx haproxy)
priority=0
scratch=''
# shellcheck disable=SC2034 # proxies.sh reads them
nginx_buffering='proxy_buffering off;' haproxy_delay='option http-no-delay' most_connections=9900

# shellcheck source=bench/machine.sh
. bench/machine.sh
# shellcheck source=bench/proxies.sh
. bench/proxies.sh

read_arguments() {
    while [ $# -gt 0 ]; do
        case $1 in
            --counts) read -r -a counts <<<"${2:-}" ;;
            --proxies) read -r -a proxies <<<"${2:-}" ;;
            *) die "unknown argument: $1" ;;
        esac
        shift 2
    done
}

# Proportional set size of these processes, in KiB: what they would give back together.
resident() {
    local process sum=0
    for process in "$@"; do
        sum=$((sum + $(sed -n 's/^Pss:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$process/smaps_rollup")))
    done
    echo "$sum"
}

# measure NAME KIND BODY OPTIONS...: the proxy with so many connections of a kind, in front of an agent of its own.
measure() {
    local name=$1 kind=$2 body=$3 before after count reply holder pids
    shift 3
    rm -f "$scratch"/*.log
    start_agent "$@"
    curl -sSf --max-time 5 "http://$address/agent-card.json" >"$scratch/card.json"
    start_proxy "$name" "$address"
    read -r -a pids <<<"$(processes_of "$started" | tr '\n' ' ')"
    coproc callers { on "$load_core" "$binaries/bench_callers" hold "$address" /agents/bench "$body"; }
    # shellcheck disable=SC2154 # coproc sets it
    holder=$callers_PID
    # What is made once, at the first connections, is not counted.
    echo 50 >&"${callers[1]}"
    read -r -t 60 reply <&"${callers[0]}" || die "$name: no connection could be held"
    sleep 1
    before=$(resident "${pids[@]}")
    for count in "${counts[@]}"; do
        echo "$count" >&"${callers[1]}"
        read -r -t 60 reply <&"${callers[0]}" || die "$name: cannot hold $count $kind connections"
        [ "$reply" = "$count" ] || die "$name: $reply instead of $count"
        sleep 2
        after=$(resident "${pids[@]}")
        awk -v kind="$kind" -v name="$name" -v n="$count" -v before="$before" -v after="$after" \
            'BEGIN {printf "%-12s %-10s %7d %10.1f %14.0f\n", kind, name, n, after / 1024, (after - before) * 1024 / (n - 50)}'
    done
    kill "$holder" 2>/dev/null || true
    wait "$holder" 2>/dev/null || true
    stop_children
}

read_arguments "$@"
PATH=$PATH:/usr/sbin
for tool in cardea bench_upstream bench_callers; do
    [ -x "$binaries/$tool" ] || die "$binaries/$tool is not built"
done
allow_open_files 20000
choose_cores
scratch=$(mktemp -d)
printf '%-12s %-10s %7s %10s %14s\n' kind proxy count PSS-MiB bytes-for-each
for proxy in "${proxies[@]}"; do
    measure "$proxy" stream bench/stream.json --events 1 --interval 600000000
    measure "$proxy" kept bench/call.json
done
