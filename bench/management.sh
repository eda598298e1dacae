#!/usr/bin/env bash
# What the management and the metrics of Cardea cost: the memory that batches of large cards take, and for how long the control
# loop does nothing else while it answers of many agents. bench/README.md says how to read it.
#   bench/management.sh [--agents N] [--batches N] [--seconds S]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

binaries=${BENCH_BINARIES:-$PWD/build/shipped}
agents=100000
batches=40
seconds=5
priority=0
scratch=''

# shellcheck source=bench/machine.sh
. bench/machine.sh

# start CONFIGURATION: the gateway, in `traffic`, `admin` and `process`.
start() {
    local deadline=$((SECONDS + 120))
    # shellcheck disable=SC2154 # choose_cores sets it
    nice -n "$priority" taskset -c "$proxy_core" "$binaries/cardea" run -c "$1" >"$scratch/out" 2>"$scratch/cardea.log" &
    process=$!
    children+=("$process")
    until grep -q '"event":"listening"' "$scratch/cardea.log"; do
        kill -0 "$process" 2>/dev/null || die "the gateway does not start: $(tail -n 3 "$scratch/cardea.log")"
        [ "$SECONDS" -lt "$deadline" ] || die "the gateway does not start in two minutes"
        sleep 0.1
    done
    admin=$(grep -m 1 '"event":"listening"' "$scratch/cardea.log" | sed 's/.*"admin":"\([^"]*\)".*/\1/')
    traffic=$(grep -m 1 '"event":"listening"' "$scratch/cardea.log" | sed 's/.*"traffic":"\([^"]*\)".*/\1/')
}

# peak: MiB of resident memory since the last reset_peak.
peak() { awk '/^VmHWM:/ {printf "%.0f", $2 / 1024}' "/proc/$process/status"; }
reset_peak() { echo 5 >"/proc/$process/clear_refs"; }

# batch METHOD PARAMETERS: fifty requests.
batch() {
    awk -v method="$1" -v params="$2" 'BEGIN {
        for (i = 0; i < 50; i++)
            printf "%s{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}", i ? "," : "[", i, method, params
        print "]"
    }'
}

# Batches of a card of 1 MB, fifty times each, all at once; their readers take it as fast as they can, or slowly.
measure_memory() {
    local rate before after pids pid codes pace
    {
        printf 'listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nstore: memory\nworkers: 1\nagents:\n  big:\n    url: http://127.0.0.1:9/\n'
        printf '    card: {"name":"big","url":"http://127.0.0.1:9/","version":"1","skills":[],"description":"%s"}\n' \
            "$(head -c 1000000 /dev/zero | tr '\0' x)"
    } >"$scratch/big.yml"
    batch agents/get '{"id":"big"}' >"$scratch/batch.json"
    start "$scratch/big.yml"
    printf '\nmemory: %d batches of 50 x agents/get of a card of 1 MB at once; MiB resident\n' "$batches"
    printf '%-8s %8s %8s %6s %6s %12s\n' readers before peak 200 503 bytes-each
    for rate in fast slow; do
        reset_peak
        before=$(peak)
        pids=()
        pace=()
        [ "$rate" = fast ] || pace=(--limit-rate 500k)
        : >"$scratch/codes"
        for ((i = 0; i < batches; i++)); do
            curl -s --max-time 300 -o /dev/null "${pace[@]}" \
                -w '%{http_code} %{size_download}\n' --json "@$scratch/batch.json" "http://$traffic/rpc" >>"$scratch/codes" &
            pids+=($!)
        done
        for pid in "${pids[@]}"; do
            wait "$pid" || true
        done
        after=$(peak)
        codes=$(awk '$1 == 200 {ok++; bytes = $2} $1 == 503 {busy++} END {printf "%6d %6d %12d", ok, busy, bytes}' "$scratch/codes")
        printf '%-8s %8d %8d %s\n' "$rate" "$before" "$after" "$codes"
    done
    stop_children
}

# Calls, failures, mean, p50, p99 and maximum in microseconds of /healthz, which the control loop answers.
probe() {
    # shellcheck disable=SC2154 # choose_cores sets it
    nice -n "$priority" taskset -c "$load_core" "$binaries/bench_callers" open "$admin" /healthz - 500 "$seconds"
}

# measure_delay NAME COMMAND...: what /healthz takes while the command is repeated.
measure_delay() {
    local name=$1 begin end line worker count
    shift
    begin=$(date +%s%N)
    "$@" >"$scratch/answer" || die "$name failed"
    end=$(date +%s%N)
    # Beside the probe, which goes first there: on the gateway's core it would be measured too.
    (taskset -cp "$load_core" "$BASHPID" >/dev/null && while "$@" >/dev/null; do :; done) &
    worker=$!
    line=$(probe)
    kill "$worker" 2>/dev/null || true
    wait "$worker" 2>/dev/null || true
    read -r count _ _ p50 p99 most <<<"$line"
    printf '%-24s %9d %12d %8d %8.1f %8.1f %8.1f\n' "$name" "$(((end - begin) / 1000000))" "$(stat -c %s "$scratch/answer")" \
        "$count" "$(awk "BEGIN {print $p50 / 1000}")" "$(awk "BEGIN {print $p99 / 1000}")" "$(awk "BEGIN {print $most / 1000}")"
}

ask() { curl -sS --fail --max-time 120 --json "@$1" "http://$2/rpc"; }
get() { curl -sS --fail --max-time 120 "http://$1"; }
nothing() { sleep 0.1; }

measure_delays() {
    {
        printf 'listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nstore: memory\nworkers: 1\ncards: {background: 0}\nagents:\n'
        awk -v n="$agents" 'BEGIN {for (i = 0; i < n; i++) printf "  agent-%06d: {url: \"http://127.0.0.1:9/a%d\"}\n", i, i}'
    } >"$scratch/many.yml"
    echo '{"jsonrpc":"2.0","id":1,"method":"agents/list","params":{"limit":1000}}' >"$scratch/list.json"
    echo '{"jsonrpc":"2.0","id":1,"method":"agents/list","params":{"text":"nobody has this"}}' >"$scratch/text.json"
    echo '{"jsonrpc":"2.0","id":1,"method":"agents/health"}' >"$scratch/health.json"
    batch agents/list '{"text":"nobody has this"}' >"$scratch/texts.json"
    start "$scratch/many.yml"
    printf '\ndelay: /healthz 500 times a second beside what is repeated, %d agents; milliseconds\n' "$agents"
    printf '%-24s %9s %12s %8s %8s %8s %8s\n' what alone bytes probes p50 p99 max
    measure_delay nothing nothing
    measure_delay 'agents/list, 1000' ask "$scratch/list.json" "$traffic"
    measure_delay 'agents/list, text' ask "$scratch/text.json" "$traffic"
    measure_delay '50 x agents/list, text' ask "$scratch/texts.json" "$traffic"
    measure_delay 'agents/health' ask "$scratch/health.json" "$traffic"
    measure_delay '/agents, 1000' get "$traffic/agents?limit=1000"
    measure_delay '/.well-known/api-catalog' get "$traffic/.well-known/api-catalog"
    reset_peak
    measure_delay '/metrics' get "$admin/metrics"
    printf 'peak resident memory: %d MiB\n' "$(peak)"
    # Every agent is different in the new file, and then again as it was.
    sed 's|/a\([0-9]*\)"}|/b\1"}|' "$scratch/many.yml" >"$scratch/other.yml"
    cp "$scratch/many.yml" "$scratch/first.yml"
    measure_delay 'POST /reload, all differ' reload
    stop_children
}

reload() {
    cp "$scratch/other.yml" "$scratch/next.yml"
    mv "$scratch/next.yml" "$scratch/many.yml"
    mv "$scratch/first.yml" "$scratch/swap.yml"
    cp "$scratch/other.yml" "$scratch/first.yml"
    mv "$scratch/swap.yml" "$scratch/other.yml"
    curl -sS --fail --max-time 120 -X POST "http://$admin/reload"
}

while [ $# -gt 0 ]; do
    case $1 in
        --agents | --batches | --seconds)
            [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "$1 needs a whole number"
            declare -g "${1#--}=$2"
            shift 2
            ;;
        *) die "unknown argument: $1" ;;
    esac
done
for tool in cardea bench_callers; do
    [ -x "$binaries/$tool" ] || die "$binaries/$tool is not built"
done
allow_open_files 16384
choose_cores
if [ "$(nice -n -20 nice 2>/dev/null)" = -20 ]; then
    priority=-20
fi
scratch=$(mktemp -d)
measure_memory
measure_delays
