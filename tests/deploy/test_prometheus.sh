#!/usr/bin/env bash
# Debian's Prometheus scrapes a real gateway with the rules: every expression of a rule and a dashboard has an answer if its metrics
# are served, and an alert fires at most 90 s after an agent, and then the gateway, was killed. `./dev deploy-test prometheus`
# calls this. CARDEA_BINARIES: a folder with `cardea` and `demo_agent`; default build/release.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

binaries=${CARDEA_BINARIES:-build/release}
most=90 # seconds from a kill to its alert
scratch=$(mktemp -d)
children=()
: >"$scratch/log"
bad=0

stop() {
    for child in "${children[@]}"; do
        kill "$child" 2>/dev/null || true
    done
    wait
    rm -rf "$scratch"
}
trap stop EXIT

complain() {
    printf 'test_prometheus: %s\n' "$*"
    bad=1
}

# free_port: one that was free a moment ago.
free_port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# query EXPRESSION: the result as JSON.
query() { curl -s -G "http://127.0.0.1:$port/api/v1/query" --data-urlencode "query=$1"; }

# wait_for EXPRESSION: how many seconds pass until it has a value; 1 if that is more than $most.
wait_for() {
    local from=$SECONDS
    until query "$1" | grep -q '"result":\[{'; do
        if [ $((SECONDS - from)) -gt "$most" ]; then
            return 1
        fi
        sleep 1
    done
    echo $((SECONDS - from))
}

member() { sed -nE "s/.*\"event\":\"listening\".*\"$1\":\"([^\"]*)\".*/\1/p" "$scratch/log"; }

call() {
    curl -s -m 5 -o /dev/null "http://$traffic/agents/words" -H 'Content-Type: application/json' \
        -d '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":"to be"}]}}}'
}

start() {
    local line
    mkfifo "$scratch/agent"
    "$binaries/demo_agent" --port 0 --generation 0.3 --pace 1 >"$scratch/agent" &
    agent=$!
    children+=("$agent")
    read -r -t 10 line <"$scratch/agent"
    "$binaries/cardea" run --store memory --listen 127.0.0.1:0 --admin 127.0.0.1:0 --agent "words=${line##* at }" \
        --mcp 'broken=/bin/false' 2>"$scratch/log" &
    gateway=$!
    children+=("$gateway")
    until [ -n "$(member admin)" ]; do sleep 0.1; done
    traffic=$(member traffic)
    admin=$(member admin)
    (while sleep 0.5; do call; curl -s -o /dev/null "http://$traffic/agents/words/.well-known/agent-card.json"; done) &
    children+=("$!")

    sed "s/127.0.0.1:4001/$admin/" deploy/prometheus/prometheus.yml >"$scratch/prometheus.yml"
    cp deploy/prometheus/cardea.rules.yml "$scratch"
    port=$(free_port)
    prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/data" --web.listen-address="127.0.0.1:$port" \
        --log.level=warn >"$scratch/prometheus.log" 2>&1 &
    children+=("$!")
}

# Each expression, with its variables filled in, is one that Prometheus evaluates.
check_expressions() {
    local expression count=0
    while IFS= read -r expression; do
        count=$((count + 1))
        query "$expression" | grep -q '"status":"success"' || complain "Prometheus cannot evaluate $expression: $(query "$expression")"
    done < <(/usr/bin/python3 tests/deploy/expressions.py)
    echo "test_prometheus: $count expressions evaluated"
    while IFS= read -r expression; do
        query "$expression" | grep -q '"result":\[{' || complain "there is no series for $expression"
    done <<'END'
sum(rate(cardea_agent_requests_total{agent="words",outcome="ok"}[1m])) > 0
cardea_mcp_session_losses_total{agent="broken"} > 0
histogram_quantile(0.99, sum by (agent, le) (rate(cardea_agent_request_duration_seconds_bucket{agent="words"}[1m]))) > 0
END
}

start
wait_for 'up{job="cardea"} == 1' >/dev/null || complain "Prometheus does not scrape the gateway: $(cat "$scratch/prometheus.log")"
sleep 45
check_expressions

disown "$agent" "$gateway" # bash reports the death of others
kill -9 "$agent"
seconds=$(wait_for 'ALERTS{alertname=~"CardeaAgentCallsFailing|CardeaAgentUnhealthy",agent="words",alertstate="firing"}') ||
    complain "no alert within $most s of the death of an agent"
echo "test_prometheus: an alert fired ${seconds:-never} s after an agent was killed"

kill -9 "$gateway"
seconds=$(wait_for 'ALERTS{alertname="CardeaDown",alertstate="firing"}') || complain "no alert within $most s of the death of the gateway"
echo "test_prometheus: CardeaDown fired ${seconds:-never} s after the gateway was killed"
[ "$bad" -eq 0 ] || exit 1
