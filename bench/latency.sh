# shellcheck shell=bash
# Sourced by bench/run.sh: the scenarios that measure time as a caller sees it (bench/callers.cpp), not CPU time.

# What run.sh has chosen.
: "${address:=}" "${given_port:=}"
: "${binaries:=}" "${scratch:=}" "${load_core:=}" "${rounds:=}" "${seconds:=}" "${agent:=}"

open_rate=1000
slow_readers=200

# calls_at_rate ADDRESS TARGET: calls, failures, mean, p50, p99 and maximum in microseconds.
calls_at_rate() {
    (on "$load_core" timeout --foreground $((seconds + 30)) "$binaries/bench_callers" \
        open "$1" "$2" bench/call.json "$open_rate" "$seconds")
}

# median NUMBER...
median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }

# An agent, and every proxy in front of it, in `agent`, `addresses`, `processes`.
start_all() {
    local name
    rm -f "$scratch"/*.log
    start_agent
    agent=$address
    curl -sSf --max-time 5 "http://$agent/agent-card.json" >"$scratch/card.json"
    addresses=()
    processes=()
    # shellcheck disable=SC2154 # run.sh has chosen them
    for name in "${proxies[@]}"; do
        start_proxy "$name" "$agent"
        addresses+=("$address")
        processes+=("$started")
    done
}

# What each proxy adds to a call when calls come at a rate that is far below what any of them can do.
run_open() {
    local i round at line name direct_mean direct_p99 calls failures mean p50 p99 most
    local -A means=() tails=()
    start_all
    printf '\nopen: %d calls a second, each due at its time; microseconds over the same calls without a proxy\n' "$open_rate"
    printf '%5s %-13s %7s %8s %8s %8s %8s %10s %10s\n' round proxy calls mean p50 p99 max added-mean added-p99
    for ((round = 1; round <= rounds; round++)); do
        for i in -1 "${!proxies[@]}"; do
            name=direct at=$agent
            if [ "$i" -ge 0 ]; then
                name=${proxies[i]} at=${addresses[i]}
            fi
            line=$(calls_at_rate "$at" "$([ "$i" -ge 0 ] && echo /agents/bench || echo /a2a)") || line='0 1 0 0 0 0'
            read -r calls failures mean p50 p99 most <<<"$line"
            [ "$failures" -eq 0 ] || invalid "$name" "$failures calls failed"
            if [ "$i" -lt 0 ]; then
                direct_mean=$mean direct_p99=$p99
            fi
            means[$name]+=" $((mean - direct_mean))"
            tails[$name]+=" $((p99 - direct_p99))"
            printf '%5d %-13s %7d %8d %8d %8d %8d %10d %10d\n' "$round" "$name" "$calls" "$mean" "$p50" "$p99" "$most" \
                $((mean - direct_mean)) $((p99 - direct_p99))
        done
    done
    for name in "${proxies[@]}"; do
        # shellcheck disable=SC2086 # a list of numbers
        printf '  mid %-13s added mean %d us, added p99 %d us\n' "$name" "$(median ${means[$name]})" "$(median ${tails[$name]})"
    done
    stop_children
}

# Until the agent gives less than 5,000 events a second: everything between it and the slow readers is then full.
wait_until_full() {
    local before after deadline=$((SECONDS + 90))
    before=$(events_sent)
    while [ "$SECONDS" -lt "$deadline" ]; do
        sleep 1
        after=$(events_sent)
        [ $((after - before)) -ge 5000 ] || return 0
        before=$after
    done
    return 1
}

# Calls beside readers that take 1 kB a second of streams that never end: with them and without.
run_slow() {
    local i round name alone beside ratio
    printf '\nslow: %d calls a second, alone and beside %d readers at 1 kB/s of endless streams; p99 in microseconds\n' \
        "$open_rate" "$slow_readers"
    printf '%5s %-13s %8s %8s %7s %14s\n' round proxy alone beside ratio resident-MiB
    for ((round = 1; round <= rounds; round++)); do
        for name in "${proxies[@]}"; do
            rm -f "$scratch"/*.log
            start_agent --events 1000000000 --interval 500 --mixed 1
            agent=$address
            curl -sSf --max-time 5 "http://$agent/agent-card.json" >"$scratch/card.json"
            start_proxy "$name" "$agent"
            i=$(processes_of "$started" | tr '\n' ' ')
            read -r _ _ _ _ alone _ <<<"$(calls_at_rate "$address" /agents/bench)"
            coproc slow { on "$load_core" "$binaries/bench_callers" slow "$address" /agents/bench bench/stream.json "$slow_readers"; }
            children+=("$slow_PID")
            read -r -t 30 _ <&"${slow[0]}" || die "$name: the slow readers did not begin"
            wait_until_full || invalid "$name" "the agent is not held back"
            read -r _ _ _ _ beside _ <<<"$(calls_at_rate "$address" /agents/bench)"
            # shellcheck disable=SC2086 # a list of numbers
            ratio=$(awk -v a="$alone" -v b="$beside" -v kib="$(peak_memory $i)" 'BEGIN {printf "%7.2f %14.1f", b / a, kib / 1024}')
            printf '%5d %-13s %8d %8d %s\n' "$round" "$name" "$alone" "$beside" "$ratio"
            stop_children
        done
    done
}

# From the start of the process to the first card, and what the program weighs without its symbols.
run_start() {
    local round name begin all asker
    start_agent
    agent=$address
    curl -sSf --max-time 5 "http://$agent/agent-card.json" >"$scratch/card.json"
    printf '\nstart: milliseconds from the start of the process to the first answer, a card that Cardea has to fetch\n'
    for name in "${proxies[@]}"; do
        all=()
        for ((round = 1; round <= 2 * rounds + 1; round++)); do
            rm -f "$scratch"/*.log
            given_port=$(free_port)
            begin=$(date +%s%N)
            ("$binaries/bench_callers" first "127.0.0.1:$given_port" /agents/bench/.well-known/agent-card.json &&
                date +%s%N >"$scratch/first") &
            asker=$!
            start_proxy "$name" "$agent" >/dev/null
            wait "$asker" || die "$name gives no card"
            all+=($((($(<"$scratch/first") - begin) / 100000)))
            kill "$started" 2>/dev/null || true
            wait "$started" 2>/dev/null || true
            given_port=''
        done
        awk -v name="$name" -v tenths="$(median "${all[@]}")" 'BEGIN {printf "  mid %-13s %6.1f ms\n", name, tenths / 10}'
    done
    strip -o "$scratch/stripped" "$binaries/cardea"
    printf 'size: %d bytes stripped\n' "$(stat -c %s "$scratch/stripped")"
    stop_children
}
