#!/bin/bash
# What test_install.sh runs inside a booted Debian, as root: /cardea.deb is installed, used, upgraded, removed and purged.
# Lines that begin with FAILED are failures.
set -u -o pipefail
exec >/result 2>&1

# check SENTENCE COMMAND...
check() {
    local sentence=$1
    shift
    if "$@"; then
        echo "ok: $sentence"
    else
        echo "FAILED: $sentence"
    fi
}

# answers URL [SECONDS]
answers() { [ "$(curl -s -m "${2:-5}" -o /dev/null -w '%{http_code}' "$1")" = 200 ]; }

# within SECONDS COMMAND...
within() {
    local until=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$until" ] || return 1
        sleep 0.2
    done
}

ready() { answers http://127.0.0.1:4001/readyz; }
none_refused() {
    systemctl restart --no-block cardea
    for _ in $(seq 50); do
        answers "$1" 30 || return 1
        sleep 0.1
    done
}
# As often as it is called a second, by callers who do not try again.
upgrade_under_calls() {
    local caller
    node /calls.js http://127.0.0.1:4000/agents/words 1000 12 >/calls &
    caller=$!
    sleep 3
    install || return 1
    wait "$caller"
}
# A hand-over that is asked for while it is called, and that the watchdog outlives.
hand_over_under_calls() {
    local caller
    node /calls.js http://127.0.0.1:4000/agents/words 200 15 >/calls &
    caller=$!
    sleep 2
    curl -s -m 60 -X POST http://127.0.0.1:4001/handover | tee /handover | grep -q '"process"' || return 1
    wait "$caller"
}
add_words() { cardea agents add words http://127.0.0.1:24010/ >/dev/null; }
has_words() { cardea agents list | grep -q '"words"'; }
everything_ready() { cardea agents get everything | grep -q '"state": *"ready"'; }
gone() { ! [ -e "$1" ]; }
contained() { systemd-analyze security --no-pager --threshold=13 cardea.service | tail -n 1; }

install() { dpkg -i /cardea.deb >/dpkg.log 2>&1; }

began=$(date +%s%N)
check "the package installs" install
check "the service is ready" within 20 ready
systemd-run --quiet /usr/lib/cardea/demo_agent --port 24010 --generation 0.3
check "an agent can be added" within 5 add_words
check "its card is served" within 10 answers http://127.0.0.1:4000/agents/words/.well-known/agent-card.json
echo "seconds from the package to the first card: $((($(date +%s%N) - began) / 1000000)) ms"

check "the configuration is root's and cardea's" [ "$(stat -c '%U:%G %a' /etc/cardea/cardea.yml)" = "root:cardea 640" ]
check "the state is cardea's" [ "$(stat -c '%U %a' /var/lib/cardea)" = "cardea 700" ]
check "the gateway runs as cardea" pgrep -u cardea -x cardea
check "the sandbox scores at most 1.3" contained
check "no socket is enabled" [ "$(systemctl is-enabled cardea-traffic.socket)" = disabled ]

# The upgrade below is under more calls at a time than an agent gets by default, and all of them are of one caller.
cat >>/etc/cardea/cardea.yml <<'END'
defaults: {limits: {in_flight: 10000}}
mcpServers:
  everything:
    command: node
    args: [/opt/everything/node_modules/@modelcontextprotocol/server-everything/dist/index.js]
END
check "the file is read again" within 10 bash -c 'cardea agents list | grep -q everything'
check "server-everything is ready in the sandbox" within 60 everything_ready
everything_ready || cardea agents get everything

check "an upgrade succeeds" install
check "the changed configuration is kept" grep -q everything /etc/cardea/cardea.yml
check "the service is ready again" within 20 ready
check "the added agent is kept" within 5 has_words

# systemd holds the addresses; a request that comes while the gateway is down waits for the next one.
systemctl stop cardea
check "the sockets can be enabled" systemctl enable --quiet --now cardea-traffic.socket cardea-admin.socket
check "a first request starts the service" within 20 ready
check "the service reports its status" bash -c 'systemctl show -P StatusText cardea | grep -q "^Serves [0-9]* agents*\.$"'
started=$(systemctl show -P MainPID cardea)
check "no request during a restart is refused" none_refused http://127.0.0.1:4000/agents/words/.well-known/agent-card.json
check "the service is ready after the restart" within 20 ready
check "another process serves now" [ "$(systemctl show -P MainPID cardea)" != "$started" ]
check "a reload ends" systemctl reload cardea
started=$(systemctl show -P MainPID cardea)
check "an upgrade under 1,000 calls a second loses none" upgrade_under_calls
cat /calls
check "and another process serves" [ "$(systemctl show -P MainPID cardea)" != "$started" ]
# Each process has to say every 3 s that it runs, the new one too.
mkdir -p /run/systemd/system/cardea.service.d
printf '[Service]\nWatchdogSec=6s\n' >/run/systemd/system/cardea.service.d/watchdog.conf
systemctl daemon-reload
systemctl restart cardea
check "the service is ready with a short watchdog" within 20 ready
started=$(systemctl show -P MainPID cardea)
check "a hand-over under calls loses none" hand_over_under_calls
cat /calls /handover && echo
check "systemd knows the new process" grep -q "\"process\":$(systemctl show -P MainPID cardea)[,}]" /handover
check "which is another one" [ "$(systemctl show -P MainPID cardea)" != "$started" ]
check "the service was never ended for it" [ "$(systemctl is-active cardea) $(systemctl show -P NRestarts cardea)" = "active 0" ]
rm -r /run/systemd/system/cardea.service.d
systemctl daemon-reload
check "the sockets can be disabled" systemctl disable --quiet --now cardea-traffic.socket cardea-admin.socket
systemctl restart cardea
check "the service binds its addresses again" within 20 ready

mkdir -p /etc/systemd/system/cardea.service.d
cp /usr/share/cardea/systemd/strict.conf /etc/systemd/system/cardea.service.d
sed -i '/^mcpServers:/,$d' /etc/cardea/cardea.yml
systemctl daemon-reload
systemctl restart cardea
check "the service is ready with strict.conf" within 20 ready
check "strict.conf lets it reload" systemctl reload cardea
check "strict.conf lets it serve" within 5 answers http://127.0.0.1:4000/agents/words/.well-known/agent-card.json
rm -r /etc/systemd/system/cardea.service.d
systemctl daemon-reload

echo 'nonsense: 1' >>/etc/cardea/cardea.yml
systemctl restart cardea
sleep 4
check "a wrong configuration is not tried again" [ "$(systemctl show -P NRestarts cardea)" = 0 ]
check "and the service has failed" systemctl is-failed --quiet cardea
sed -i '/^nonsense/d' /etc/cardea/cardea.yml
systemctl start cardea
check "with the file corrected the service is ready" within 20 ready
kill -9 "$(systemctl show -P MainPID cardea)"
sleep 0.5
check "after a crash the service is ready again" within 20 ready

check "the package can be removed" dpkg -r cardea
check "nothing runs" bash -c '! pgrep -x cardea'
check "removal keeps the agents" test -s /var/lib/cardea/store.db
check "the package installs again" install
check "the agents are back" within 20 has_words
check "the package can be purged" dpkg -P cardea
for path in /var/lib/cardea /var/cache/cardea /var/log/cardea /etc/cardea /usr/share/cardea; do
    check "purge deletes $path" gone "$path"
done
if grep -q FAILED /result; then
    journalctl -u cardea --no-pager | tail -n 40
    cat /dpkg.log
fi
echo "end of the test"
