# shellcheck shell=bash
# Sourced by bench/run.sh: the scenario `mcp`, where the gateway relays calls to an MCP server over HTTP (cardea-mcp) or to one that
# is a program (cardea-program), in one session of a caller.
: "${scratch:=}" "${binaries:=}" "${load_core:=}" "${scenario:=}" "${target:=}" "${agent:=}"

# An MCP server over HTTP beside the A2A agent that cardea itself calls, in `mcp_agent`.
start_mcp_agent() {
    local before=$address
    start_agent --mcp 1
    mcp_agent=$address
    address=$before
}

# agent_of NAME AGENT: what the gateway of this name has behind `bench`.
agent_of() {
    case $1 in
        cardea-mcp) echo "{url: \"http://$mcp_agent/mcp\", protocol: mcp}" ;;
        # On the load's core: what is measured is the gateway.
        cardea-program) echo "{transport: {type: stdio, command: taskset, args: [-c, \"$load_core\", $binaries/bench_program]}}" ;;
        *) echo "{url: \"http://$2/a2a\"}" ;;
    esac
}

is_mcp() { [[ $1 = cardea-mcp || $1 = cardea-program ]]; }

target_of() {
    if is_mcp "$1"; then
        echo /agents/bench/mcp
    else
        echo "$target"
    fi
}

body_of() {
    if is_mcp "$1"; then
        echo bench/tool.json
    elif [ "$1" = cardea-translated ]; then
        echo "${BENCH_BODY%.json}_v1.json"
    else
        echo "${BENCH_BODY:-}"
    fi
}

post_mcp() {
    local at=$1
    shift
    curl -sS --fail --max-time 10 -H 'Accept: application/json, text/event-stream' -H 'Content-Type: application/json' \
        "http://$at/agents/bench/mcp" "$@"
}

begin_mcp() {
    local client='"clientInfo":{"name":"bench","version":"1"}'
    post_mcp "$1" -D "$scratch/begun" -o "$scratch/initialized" \
        -d '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'"$client}}"
}

# begin_session NAME ADDRESS: one, whose header line is then in $scratch/NAME.session; and whether a call in it is answered.
begin_session() {
    local wanted=$scratch/wanted got=$scratch/got
    wait_for 10 begin_mcp "$2" || die "$1 begins no session: $(begin_mcp "$2" 2>&1)"
    tr -d '\r' <"$scratch/begun" | grep -i '^mcp-session-id: ' >"$scratch/$1.session" || die "$1 gives no session id"
    post_mcp "$2" -H "$(<"$scratch/$1.session")" -d '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    curl -sSf --max-time 10 --json @bench/tool.json "http://$mcp_agent/mcp" >"$wanted"
    post_mcp "$2" -H "$(<"$scratch/$1.session")" -d @bench/tool.json >"$got" || die "$1 does not relay"
    cmp -s "$wanted" "$got" || die "$1 does not give the server's answer"
}
