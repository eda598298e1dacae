#!/usr/bin/env bash
# Cardea beside nginx, HAProxy and Envoy: CPU time of the proxy per 1,000 relayed calls. bench/README.md says how to read it.
#   bench/run.sh [call|call512|card|card304|cards|codec|sse|large|tls|workers|access|mcp|bridge|h2|translate|open|slow|start|sessions|memory|management|replicas]... [--rounds N] [--seconds S]
#       [--warmup S] [--proxies "NAME..."]
# Names: cardea, nginx, haproxy, envoy; with -none they write no access log, nginx-lines writes every line on its own;
# cardea-watched has a viewer that reads its log at /events; cardea-workers has two workers, on both cores; cardea-key and cardea-token ask their callers for a key or a signed token,
# cardea-unread-key and cardea-unread-token are sent the same and do not read it; cardea-mcp and cardea-program have an MCP server behind them;
# cardea-translated has callers of A2A 1.0 for an agent of 0.3; floor (bench/floor.cpp) is what the kernel alone costs.
# Exit code 1 if a round had an error or a wrong answer, 2 if nothing can be measured here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

binaries=${BENCH_BINARIES:-$PWD/build/shipped}
rounds=3
seconds=5
warmup=2
priority=0
scenarios=()
proxies=()
scratch=''
failed=0
trust=()

# shellcheck source=bench/machine.sh
. bench/machine.sh
# shellcheck source=bench/proxies.sh
. bench/proxies.sh
# shellcheck source=bench/latency.sh
. bench/latency.sh
# shellcheck source=bench/sessions.sh
. bench/sessions.sh

read_arguments() {
    while [ $# -gt 0 ]; do
        case $1 in
            --rounds | --seconds | --warmup)
                [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "$1 needs a whole number"
                declare -g "${1#--}=$2"
                shift 2
                ;;
            --proxies)
                read -r -a proxies <<<"${2:-}"
                shift 2
                ;;
            call | call512 | card | card304 | cards | codec | sse | large | tls | workers | access | mcp | bridge | h2 | translate | open | slow | start | sessions | memory | management | replicas)
                scenarios+=("$1")
                shift
                ;;
            *) die "unknown argument: $1" ;;
        esac
    done
    [ "${#scenarios[@]}" -gt 0 ] || scenarios=(call call512 card card304 sse large tls)
    [ "${#proxies[@]}" -gt 0 ] || proxies=(cardea nginx haproxy envoy floor)
}

# The codec of protocol buffers beside libprotobuf, which takes the descriptors that protoc writes.
measure_codec() {
    protoc -I a2a/protobuf/proto --include_imports --descriptor_set_out="$scratch/descriptors" v1/a2a.proto v03/a2a.proto &&
        "$binaries/bench_codec" "$scratch/descriptors"
}

check_machine() {
    local tool
    PATH=$PATH:/usr/sbin
    for tool in wrk curl openssl taskset setsid timeout awk "${proxies[@]%%-*}"; do
        [[ $tool != cardea && $tool != floor && $tool != envoy ]] || continue
        command -v "$tool" >/dev/null || die "$tool is not installed"
    done
    for tool in cardea bench_upstream bench_callers bench_floor; do
        [ -x "$binaries/$tool" ] || die "$binaries/$tool is not built"
    done
    allow_open_files 16384
    choose_cores
    if [ "$(nice -n -20 nice 2>/dev/null)" = -20 ]; then
        priority=-20
    fi
    echo "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1), Linux $(uname -r); proxy on core $proxy_core," \
        "agent and wrk on core $load_core; load average before: $(cut -d ' ' -f 1 /proc/loadavg)"
}

# The largest of these processes at its peak, in KiB.
peak_memory() {
    local process
    for process in "$@"; do
        sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$process/status"
    done | sort -n | tail -n 1
}

events_sent() { curl -s --max-time 5 "http://$agent/count" | sed 's/.*"events":\([0-9]*\).*/\1/'; }

# load ADDRESS TARGET SECONDS: wrk's line.
load() {
    (on "$load_core" timeout --foreground $(($3 + 20)) wrk -t 1 -c "$connections" -d "${3}s" --timeout 10s \
        -s bench/load.lua "$scheme://$1$2") >"$scratch/wrk" 2>&1 || true
    sed -n 's/^bench //p' "$scratch/wrk"
}

invalid() {
    failed=1
    echo "      $1: this round does not count: $2"
}

# measure ROUND INDEX: one proxy under load, one line of the table and one of $scratch/results.
measure() {
    local round=$1 name=${proxies[$2]} at=${addresses[$2]} log lines=0 problem='' events=0 body
    local line count microseconds bytes errors p50 p99 ticks per_thousand rate memory units
    read -r -a pids <<<"${processes[$2]}"
    log=$scratch/$name.log
    export BENCH_ETAG=${etags[$2]}
    [ -n "$BENCH_ETAG" ] || unset BENCH_ETAG
    BENCH_CREDENTIAL=$(credential_of "$name")
    export BENCH_CREDENTIAL
    body=$(body_of "$name")
    BENCH_BODY=$body load "$at" "$(target_of "$name")" "$warmup" >/dev/null
    sleep 0.3
    [ ! -e "$log" ] || : >"$log"
    [[ $scenario != *sse ]] || events=$(events_sent)
    ticks=$(cpu_ticks "${pids[@]}")
    line=$(BENCH_BODY=$body load "$at" "$(target_of "$name")" "$seconds")
    ticks=$(($(cpu_ticks "${pids[@]}") - ticks))
    memory=$(peak_memory "${pids[@]}")
    [[ $scenario != *sse ]] || events=$(($(events_sent) - events))
    if [ -z "$line" ]; then
        invalid "$name" "wrk failed: $(tail -n 1 "$scratch/wrk")"
        return
    fi
    read -r count microseconds bytes errors <<<"$line"
    p50=$(cut -d ' ' -f 9 <<<"$line")
    p99=${line##* }
    errors=${errors% * *}
    sleep 0.3
    [ ! -e "$log" ] || lines=$(wc -l <"$log")
    if [ "$errors" != "0 0 0 0 0" ]; then
        problem="errors of wrk (connect, read, write, status, timeout): $errors"
    elif [ "$count" -eq 0 ] || [ $((bytes / count)) -lt "$least_bytes" ]; then
        problem="$count answers of $((bytes / (count > 0 ? count : 1))) bytes, not $least_bytes or more"
    elif [[ $name != *-none && $name != floor ]] && [ "$lines" -lt "$count" ]; then
        problem="$count answers, but $lines lines in the access log"
    elif [ "$ticks" -eq 0 ]; then
        problem="no CPU time was seen"
    fi
    if [ -n "$problem" ]; then
        invalid "$name" "$problem"
        return
    fi
    units=$count
    [[ $scenario != *sse ]] || units=$events
    read -r per_thousand rate memory < <(awk -v t="$ticks" -v hz="$(getconf CLK_TCK)" -v n="$units" -v us="$microseconds" \
        -v kib="$memory" 'BEGIN {printf "%.2f %.0f %.1f\n", t * 1e6 / hz / n, n * 1e6 / us, kib / 1024}')
    printf '%5s %-13s %11s %10s %8s %8s %9s\n' "$round" "$name" "$per_thousand" "$rate" "$p50" "$p99" "$memory"
    echo "$scenario $name $round $per_thousand $rate $p50 $p99 $memory" >>"$scratch/results"
}

# Medians of the scenario, and the first proxy's figure by each other's: the ratio within each round (the machine's mood
# changes from round to round), of these the median, the least and the greatest.
summarise() {
    sort -k 2,2 -k 4,4n "$scratch/results" | awk -v scenario="$scenario" -v names="${proxies[*]}" '
        function median(values, n,   i, j, v) {
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && values[j - 1] > values[j]; j--) { v = values[j]; values[j] = values[j - 1]; values[j - 1] = v }
            return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
        }
        $1 == scenario { n = ++seen[$2]; round[$2, $3] = $4; for (c = 4; c <= 8; c++) value[$2, c, n] = $c; if ($3 > last) last = $3 }
        END {
            count = split(names, order, " ")
            for (p = 1; p <= count; p++) {
                name = order[p]
                for (c = 4; c <= 8; c++) {
                    for (i = 1; i <= seen[name]; i++) column[i] = value[name, c, i] + 0
                    middle[name, c] = seen[name] ? median(column, seen[name]) : 0
                }
                if (seen[name]) printf "  mid %-13s %11.2f %10.0f %8.0f %8.0f %9.1f\n", name, middle[name, 4], middle[name, 5], middle[name, 6], middle[name, 7], middle[name, 8]
            }
            for (p = 2; p <= count; p++) {
                name = order[p]
                if (!seen[order[1]] || !seen[name]) continue
                n = 0
                for (i = 1; i <= last; i++) {
                    if (((order[1], i) in round) && ((name, i) in round)) column[++n] = round[order[1], i] / round[name, i]
                }
                if (!n) continue
                middle_ratio = median(column, n)
                printf "ratio %s/%s %.2f (rounds: %.2f to %.2f)\n", order[1], name, middle_ratio, column[1], column[n]
            }
        }'
}

# What the scenario asks and how; starts its agent. Sets connections, target, least_bytes and the rest that is used above.
prepare() {
    local options=()
    connections=64
    target=/agents/bench
    least_bytes=1024
    scheme=http
    nginx_buffering=''
    haproxy_delay=''
    export BENCH_BODY=bench/call.json
    case $scenario in
        call | workers) title="relayed call: POST of 400 bytes, answer of 1 KiB" ;;
        call512)
            title="relayed call: POST of 400 bytes, answer of 1 KiB"
            connections=512
            ;;
        access)
            title="relayed call whose caller is identified: POST of 400 bytes, answer of 1 KiB"
            make_token
            ;;
        mcp)
            title="call of an A2A agent, of an MCP server over HTTP and of one that is a program: POST of 400 bytes, answer of 1 KiB"
            start_mcp_agent
            ;;
        translate) title="relayed call, and one of A2A 1.0 to an agent of 0.3: POST of 400 bytes, answer of 1 KiB" ;;
        translate_sse)
            title="stream, and one of A2A 1.0 of an agent of 0.3: 250 events of 200 bytes, one every 2 ms; figures per 1,000 events"
            options=(--events 250 --interval 2000)
            least_bytes=$((250 * 150))
            BENCH_BODY=bench/stream.json
            ;;
        large)
            title="relayed call: POST of 400 bytes, answer of 64 KiB"
            least_bytes=65536
            options=(--body "$least_bytes")
            ;;
        tls)
            title="relayed call over TLS 1.3: POST of 400 bytes, answer of 1 KiB"
            scheme=https
            make_certificate
            ;;
        sse)
            title="stream: POST, answer of 250 events of 200 bytes, one every 2 ms; figures per 1,000 events"
            options=(--events 250 --interval 2000)
            least_bytes=$((250 * 200))
            nginx_buffering='proxy_buffering off;'
            haproxy_delay='option http-no-delay'
            ;;
        card | card304)
            title="agent card of 4 KiB: Cardea from its cache, nginx a static file, HAProxy from memory"
            target=$target/.well-known/agent-card.json
            least_bytes=4096
            unset BENCH_BODY
            if [ "$scenario" = card304 ]; then
                title="the same card, conditional: 304"
                least_bytes=50
            fi
            ;;
    esac
    start_agent "${options[@]}"
    agent=$address
    curl -sSf --max-time 5 "http://$agent/agent-card.json" >"$scratch/card.json"
}

# One for all proxies, for 127.0.0.1.
make_certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=bench \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$scratch/server.key" -out "$scratch/server.pem" 2>"$scratch/openssl" ||
        die "openssl: $(tail -n 1 "$scratch/openssl")"
    cat "$scratch/server.pem" "$scratch/server.key" >"$scratch/both.pem"
    trust=(--cacert "$scratch/server.pem" --tlsv1.3)
}

# Whether the proxy gives what the agent gives: speed is no excuse for a wrong answer.
check_answers() {
    local name=$1 at=$2 got=$scratch/got wanted=$scratch/wanted status etag='' credential
    if is_mcp "$name"; then
        begin_session "$name" "$at"
        etags+=('')
        return
    fi
    if [ "$name" = cardea-translated ]; then
        curl -sSf --max-time 10 --json @"$(body_of "$name")" "http://$at$target" >"$got" || die "$name does not relay"
        if grep -q '"kind"' "$got" || ! grep -q '"message":{\|"artifactUpdate":{' "$got"; then
            die "$name does not translate: $(head -c 300 "$got")"
        fi
        etags+=('')
        return
    fi
    credential=$(credential_of "$name")
    if [ -n "${BENCH_BODY:-}" ]; then
        curl -sSf --max-time 10 --json @"$BENCH_BODY" "http://$agent/a2a" >"$wanted"
        curl -sSf --max-time 10 "${trust[@]}" ${credential:+-H "$credential"} --json @"$BENCH_BODY" "$scheme://$at$target" >"$got" || die "$name does not relay"
        cmp -s "$wanted" "$got" || die "$name does not give the agent's answer"
        etags+=('')
        return
    fi
    curl -sSf --max-time 10 -D "$scratch/head" "http://$at$target" >"$got" || die "$name gives no card"
    if ! grep -q '"name":"bench"' "$got" || [ "$(wc -c <"$got")" -lt 4000 ]; then
        die "$name gives another card"
    fi
    if [ "$scenario" = card304 ]; then
        etag=$(tr -d '\r' <"$scratch/head" | sed -n 's/^[Ee][Tt]ag: //p')
        status=$(curl -sS --max-time 10 -o "$got" -w '%{http_code}' -H "If-None-Match: $etag" "http://$at$target")
        [ "$status" = 304 ] || die "$name answers a conditional request with $status"
    fi
    etags+=("$etag")
}

run_scenario() {
    local round i
    addresses=()
    processes=()
    etags=()
    rm -f "$scratch"/*.log
    prepare
    for i in "${!proxies[@]}"; do
        start_proxy "${proxies[i]}" "$agent"
        addresses+=("$address")
        # What Cardea starts are agents.
        if [[ ${proxies[i]} = cardea* ]]; then
            processes+=("$started")
        else
            processes+=("$(processes_of "$started" | tr '\n' ' ')")
        fi
        check_answers "${proxies[i]}" "$address"
    done
    printf '\n%s: %s; %d connections\n' "$scenario" "$title" "$connections"
    printf '%5s %-13s %11s %10s %8s %8s %9s\n' round proxy 'CPU ms/1k' per-second p50-us p99-us peak-MiB
    for ((round = 1; round <= rounds; round++)); do
        for i in "${!proxies[@]}"; do
            measure "$round" "$i"
        done
    done
    summarise
    stop_children
}

# Those of the chosen proxies that can do what the scenario asks, in `proxies`.
choose_proxies() {
    local name
    proxies=()
    for name in "${chosen[@]}"; do
        case $scenario-$name in
            call-floor | call512-floor | card-floor | sse-floor) ;;
            *-floor) continue ;;
            # HAProxy and Envoy give what they have in memory without a validator.
            card304-haproxy* | card304-envoy*) continue ;;
        esac
        proxies+=("$name")
    done
    [ "$scenario" != workers ] || proxies=(cardea cardea-workers)
    [ "$scenario" != mcp ] || proxies=(cardea cardea-mcp cardea-program)
    [[ $scenario != translate* ]] || proxies=(cardea cardea-translated)
    [ "$scenario" != access ] || proxies=(cardea cardea-key cardea-unread-key cardea-token cardea-unread-token)
    [ "${#proxies[@]}" -gt 0 ] || die "none of these proxies can do $scenario: ${chosen[*]}"
}

read_arguments "$@"
check_machine
chosen=("${proxies[@]}")
scratch=$(mktemp -d)
: >"$scratch/results"
for scenario in "${scenarios[@]}"; do
    choose_proxies
    case $scenario in
        open | slow | start | sessions) "run_$scenario" ;;
        memory) bench/memory.sh --proxies "${proxies[*]}" ;;
        cards) "$binaries/bench_cards" --runs "$rounds" || failed=1 ;;
        codec) measure_codec || failed=1 ;;
        management) bench/management.sh --seconds "$seconds" ;;
        replicas) "$binaries/bench_replicas" --seconds "$seconds" || failed=1 ;;
        bridge) bench/bridge_bars.py --rounds "$rounds" --seconds "$seconds" || failed=1 ;;
        h2) bench/http2_bars.py --rounds "$rounds" --seconds "$seconds" || failed=1 ;;
        mcp)
            run_scenario
            bench/mcp_bars.py --rounds "$rounds" --seconds "$seconds" || failed=1
            ;;
        translate)
            run_scenario
            scenario=translate_sse
            run_scenario
            ;;
        *) run_scenario ;;
    esac
done
if [ "$failed" -ne 0 ]; then
    echo "bench: some rounds do not count (above)" >&2
    exit 1
fi
