#!/usr/bin/env bash
# Two demo agents and the gateway in front of them, until Ctrl-C. `./dev run` builds what this starts.
# CARDEA_LISTEN and CARDEA_ADMIN change the gateway's addresses.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

binaries=build/release
scratch=$(mktemp -d)
children=()

stop() {
    trap - EXIT
    trap '' INT TERM
    if [ "${#children[@]}" -gt 0 ]; then
        kill "${children[@]}" 2>/dev/null || true
        wait "${children[@]}" || true
    fi
    rm -rf "$scratch"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start_agent GENERATION: sets `address`.
start_agent() {
    local line
    mkfifo "$scratch/$1"
    "$binaries/demo_agent" --port 0 --generation "$1" >"$scratch/$1" &
    children+=("$!")
    read -r -t 10 line <"$scratch/$1" || {
        echo "run: the demo agent for A2A $1 did not start" >&2
        exit 1
    }
    echo "$line"
    address=${line##* at }
}

# What can be tried, with the addresses that the gateway got.
print_commands() {
    local traffic=$1 admin=$2 json="-H 'Content-Type: application/json'"
    local old='{"message":{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":"to be or not to be"}]}}'
    local new='{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"5d6"}]}}'
    cat <<END

The gateway stands at http://$traffic in front of "words" (A2A 0.3) and "dice" (A2A 1.0). Try, in another terminal:

# a card, as the gateway gives it out
curl -s http://$traffic/agents/words/.well-known/agent-card.json; echo
# a call, A2A 0.3
curl -s http://$traffic/agents/words $json -d '{"jsonrpc":"2.0","id":1,"method":"message/send","params":$old}'; echo
# a call, A2A 1.0
curl -s http://$traffic/agents/dice $json -H 'A2A-Version: 1.0' -d '{"jsonrpc":"2.0","id":2,"method":"SendMessage","params":$new}'; echo
# a stream, event by event
curl -sN http://$traffic/agents/dice $json -H 'A2A-Version: 1.0' -d '{"jsonrpc":"2.0","id":3,"method":"SendStreamingMessage","params":$new}'
# what the gateway knows
curl -s http://$traffic/rpc $json -d '{"jsonrpc":"2.0","id":4,"method":"agents/list"}'; echo
curl -s http://$admin/metrics

The console, for a browser: http://$admin/

Ctrl-C ends everything. The gateway's log:

END
}

member() { sed -nE "s/.*\"$2\":\"([^\"]*)\".*/\1/p" <<<"$1"; }

start_agent 0.3
words=$address
start_agent 1.0
dice=$address

mkfifo "$scratch/log"
"$binaries/cardea" run --store memory --listen "${CARDEA_LISTEN:-127.0.0.1:4000}" --admin "${CARDEA_ADMIN:-127.0.0.1:4001}" \
    --agent "words=$words" --agent "dice=$dice" 2>"$scratch/log" &
gateway=$!
children+=("$gateway")
while read -r line; do
    case $line in
        *'"event":"listening"'*) print_commands "$(member "$line" traffic)" "$(member "$line" admin)" ;;
    esac
    printf '%s\n' "$line"
done <"$scratch/log"
wait "$gateway"
