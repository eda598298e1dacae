#!/usr/bin/env bash
# An MCP client calls an A2A agent through the gateway's bundle, and the agent calls an MCP server through the gateway; then an A2A client
# calls the MCP server. No model takes part. It needs python3, and build/release/cardea, which `./dev build` makes.
# CARDEA_LISTEN and CARDEA_ADMIN change the gateway's addresses.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

gateway=${CARDEA_LISTEN:-127.0.0.1:4000}
scratch=$(mktemp -d)
children=()

stop() {
    trap - EXIT
    [ "${#children[@]}" -eq 0 ] || kill "${children[@]}" 2>/dev/null || true
    wait
    rm -rf "$scratch"
}
trap stop EXIT

mkfifo "$scratch/reporter"
python3 -B examples/bridge/reporter.py "$gateway" >"$scratch/reporter" &
children+=("$!")
read -r -t 10 REPORTER_URL <"$scratch/reporter"
export REPORTER_URL

build/release/cardea run -c examples/bridge/cardea.yml --store memory --listen "$gateway" \
    --admin "${CARDEA_ADMIN:-127.0.0.1:4001}" 2>"$scratch/log" &
children+=("$!")
until grep -q '"event":"listening"' "$scratch/log"; do
    kill -0 "${children[1]}" || { cat "$scratch/log" >&2; exit 1; }
    sleep 0.1
done

echo "An MCP client, at http://$gateway/mcp:"
python3 -B examples/bridge/client.py "$gateway"
echo
echo "An A2A client of the MCP server, at http://$gateway/agents/notes/:"
curl -sS "http://$gateway/agents/notes/" -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \
    -d '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"data":{"skill":"read","arguments":{"name":"cats"}}}]}}}'
echo
