#!/usr/bin/env bash
# Debian's Prometheus scrapes a real gateway with the rules, under traffic of every kind (traffic.py): every expression of a panel and of
# a recording rule has a series, every alert can be evaluated, and an alert fires at most 90 s after an agent, and then the gateway,
# was killed. `./dev deploy-test prometheus` calls this. CARDEA_BINARIES: a folder with `cardea` and `demo_agent`; default build/release.
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

# write_configuration WORDS UPSTREAMS: of a gateway that has all that a metric can be about.
write_configuration() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 90 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
        -keyout "$scratch/tls.key" -out "$scratch/tls.pem" 2>/dev/null
    key=$(head -c 32 /dev/urandom | sha256sum | cut -d' ' -f1)
    cat >"$scratch/cardea.yml" <<END
listen: 127.0.0.1:0
admin: 127.0.0.1:0
store: postgresql://cardea@127.0.0.1:$database/postgres
tls: {cert: $scratch/tls.pem, key: $scratch/tls.key}
access:
  providers:
    - type: api_key
      name: keys
      keys: [{name: traffic, sha256: $(printf %s "$key" | sha256sum | cut -d' ' -f1)}]
    - {type: jwt, name: issuer, issuer: https://issuer.example.com, audience: cardea, jwks_url: "http://127.0.0.1:$2/keys"}
  rules:
    - {discover: anyone, call: authenticated}
rate_limits:
  agent: {rate: 30, burst: 50}
cards: {min_ttl: 1s}
trace: {endpoint: "http://127.0.0.1:$2", sample: 1}
agents:
  words:
    url: $1
  paid:
    url: $1
    credentials: {oauth2: {token_url: "http://127.0.0.1:$2/token", client_id: cardea, client_secret: secret}}
  failing:
    url: http://127.0.0.1:$2/failing
  gone:
    url: http://127.0.0.1:1/
  slow:
    url: http://127.0.0.1:$2/slow
    limits: {in_flight: 1, queue: 2}
  closed:
    url: $1
    call: nobody
  closed-to-many:
    url: $1
  program:
    command: $PWD/tests/deploy/mcp_program.py
    warm: 1
    tools: {deny: [secret]}
  flapping:
    command: $PWD/tests/deploy/mcp_program.py
    args: ["10"]
  broken:
    command: /bin/false
  forgetful:
    protocol: mcp
    url: http://127.0.0.1:$2/mcp
END
}

# started OUTPUT COMMAND...: starts it, and returns when it has written something there.
started() {
    local output=$1
    shift
    "$@" >"$output" &
    children+=("$!")
    until [ -s "$output" ]; do sleep 0.1; done
}

# A PostgreSQL of its own: only with such a store are there all metrics.
start_database() {
    local bin=/usr/lib/postgresql/15/bin as=()
    database=$(free_port)
    mkdir "$scratch/database"
    if [ "$(id -u)" -eq 0 ]; then
        as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
        chmod 711 "$scratch"
        chown postgres "$scratch/database"
    fi
    "${as[@]}" "$bin/initdb" --no-sync -A trust -U cardea -D "$scratch/database/data" >/dev/null
    "${as[@]}" "$bin/postgres" -D "$scratch/database/data" -p "$database" -k "$scratch/database" -c fsync=off 2>"$scratch/database.log" &
    children+=("$!")
    until "$bin/pg_isready" -q -h 127.0.0.1 -p "$database"; do sleep 0.1; done
}

start() {
    start_database
    started "$scratch/agent" "$binaries/demo_agent" --port 0 --generation 0.3 --pace 1
    agent=${children[-1]}
    started "$scratch/upstreams" tests/deploy/upstreams.py
    write_configuration "$(sed -E 's/.* at //; q' "$scratch/agent")" "$(head -n 1 "$scratch/upstreams")"
    "$binaries/cardea" run -c "$scratch/cardea.yml" 2>"$scratch/log" &
    gateway=$!
    children+=("$gateway")
    until [ -n "$(member admin)" ]; do
        kill -0 "$gateway" 2>/dev/null || { cat "$scratch/log" && exit 1; }
        sleep 0.1
    done
    admin=$(member admin)
    started "$scratch/traffic" tests/deploy/traffic.py "$(member traffic)" "$scratch/tls.pem" "$key" "$admin"

    sed "s/127.0.0.1:4001/$admin/" deploy/prometheus/prometheus.yml >"$scratch/prometheus.yml"
    cp deploy/prometheus/cardea.rules.yml "$scratch"
    port=$(free_port)
    prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/data" --web.listen-address="127.0.0.1:$port" \
        --log.level=warn >"$scratch/prometheus.log" 2>&1 &
    children+=("$!")
}

# check_series panels|records: each expression has at least one series.
check_series() {
    local expression count=0
    while IFS= read -r expression; do
        count=$((count + 1))
        query "$expression" | grep -q '"result":\[{' || complain "there is no series for $expression"
    done < <(/usr/bin/python3 tests/deploy/expressions.py "$1")
    echo "test_prometheus: $count expressions of $1 were looked at"
}

# The page that Prometheus reads, while nearly every family has series.
check_page() {
    curl -sf "http://$admin/metrics" | promtool check metrics >"$scratch/promtool" 2>&1 || complain "promtool check metrics: $(cat "$scratch/promtool")"
}

check_alerts() {
    local expression
    while IFS= read -r expression; do
        query "$expression" | grep -q '"status":"success"' || complain "Prometheus cannot evaluate $expression: $(query "$expression")"
    done < <(/usr/bin/python3 tests/deploy/expressions.py alerts)
}

start
wait_for 'up{job="cardea"} == 1' >/dev/null || complain "Prometheus does not scrape the gateway: $(cat "$scratch/prometheus.log")"
sleep 75 # a rate over a minute, of what the traffic begins with
check_series panels
check_series records
check_alerts
check_page
[ "$bad" -eq 0 ] || { cat "$scratch/traffic" && cp "$scratch/log" build/test_prometheus.log; }

disown "$agent" "$gateway" # bash reports the death of others
kill -9 "$agent"
seconds=$(wait_for 'ALERTS{alertname=~"CardeaAgentCallsFailing|CardeaAgentUnhealthy",agent="words",alertstate="firing"}') ||
    complain "no alert within $most s of the death of an agent"
echo "test_prometheus: an alert fired ${seconds:-never} s after an agent was killed"

kill -9 "$gateway"
seconds=$(wait_for 'ALERTS{alertname="CardeaDown",alertstate="firing"}') || complain "no alert within $most s of the death of the gateway"
echo "test_prometheus: CardeaDown fired ${seconds:-never} s after the gateway was killed"
[ "$bad" -eq 0 ] || exit 1
