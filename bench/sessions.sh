# shellcheck shell=bash
# Sourced by bench/run.sh: what callers notice of many MCP servers that start at once.

# What run.sh has chosen.
: "${address:=}" "${scratch:=}" "${proxy_core:=}" "${load_core:=}" "${rounds:=}" "${seconds:=}" "${agent:=}" "${started:=}"
: "${binaries:=}"

mcp_servers=50
card_rate=1000
mcp_command="sh $PWD/bench/mcp_server.sh"

# declare_servers COUNT: the gateway has so many, and has begun the sessions with them.
declare_servers() {
    local i words
    words="-c, \"$proxy_core,$load_core\", ${mcp_command// /, }"
    {
        cat "$scratch/base.yml"
        echo "mcpServers:"
        for ((i = 0; i < $1; i++)); do
            echo "  s$i: {command: taskset, args: [$words]}"
        done
    } >"$scratch/new.yml"
    mv "$scratch/new.yml" "$scratch/cardea.yml"
    curl -sSf --max-time 30 -X POST "http://$admin/reload" >"$scratch/reloaded" || die "the reload failed: $(cat "$scratch/reloaded")"
}

sessions_up() {
    curl -s --max-time 5 --json '{"jsonrpc":"2.0","id":1,"method":"agents/list","params":{"limit":1000}}' "http://$admin/rpc" |
        { grep -o '"state":"ready"' || true; } | wc -l
}

wait_for_sessions() {
    local deadline=$((SECONDS + 120))
    while [ "$(sessions_up)" -ne "$1" ] || { [ "$1" -eq 0 ] && pgrep -P "$started" >/dev/null; }; do
        [ "$SECONDS" -lt "$deadline" ] || die "$(sessions_up) sessions are up, and not $1"
        sleep 0.1
    done
}

# Calls, failures, mean, p50, p99 and maximum in microseconds.
cards_at_rate() {
    # shellcheck disable=SC2030 # for these callers only
    (priority=$load_priority && on "$load_core" timeout --foreground $((seconds + 30)) "$binaries/bench_callers" \
        open "$address" /agents/bench/.well-known/agent-card.json - "$card_rate" "$seconds")
}

# The card of an A2A agent, alone and while the programs of 50 MCP servers start on the same two cores.
run_sessions() {
    local round alone beside loader name line p50s=() p99s=() admin
    # Programs that the gateway starts have its priority, and would have that of nobody else. Who measures is not what is
    # measured.
    # shellcheck disable=SC2031 # it was not modified for this one
    local load_priority=$priority priority=0
    start_agent
    agent=$address
    curl -sSf --max-time 5 "http://$agent/agent-card.json" >"$scratch/card.json"
    start_proxy cardea "$agent"
    admin=$(grep -m 1 '"event":"listening"' "$scratch/cardea.log" | sed 's/.*"admin":"\([^"]*\)".*/\1/')
    cp "$scratch/cardea.yml" "$scratch/base.yml"
    cards_at_rate >/dev/null
    printf '\nsessions: %d cards a second, alone and while %d MCP servers start; microseconds\n' "$card_rate" "$mcp_servers"
    printf '%5s %-7s %7s %8s %8s %8s %8s\n' round what cards failed p50 p99 max
    for ((round = 1; round <= rounds; round++)); do
        alone=$(cards_at_rate)
        cards_at_rate >"$scratch/beside" &
        loader=$!
        sleep 0.2
        declare_servers "$mcp_servers"
        wait "$loader"
        beside=$(<"$scratch/beside")
        wait_for_sessions "$mcp_servers"
        declare_servers 0
        wait_for_sessions 0
        for name in alone beside; do
            line=$alone
            [ "$name" = alone ] || line=$beside
            # shellcheck disable=SC2086 # six numbers
            set -- $line
            [ "$2" -eq 0 ] || invalid "$name" "$2 cards failed"
            printf '%5d %-7s %7d %8d %8d %8d %8d\n' "$round" "$name" "$1" "$2" "$4" "$5" "$6"
        done
        p50s+=("$(awk -v a="$alone" -v b="$beside" 'BEGIN {split(a, x); split(b, y); printf "%.2f", y[4] / x[4]}')")
        p99s+=("$(awk -v a="$alone" -v b="$beside" 'BEGIN {split(a, x); split(b, y); printf "%.2f", y[5] / x[5]}')")
    done
    printf 'ratio beside/alone: p50 %s (%s), p99 %s (%s); the goal is 1.2\n' "$(median "${p50s[@]}")" "${p50s[*]}" \
        "$(median "${p99s[@]}")" "${p99s[*]}"
    stop_children
}
