# shellcheck shell=bash
# Sourced by bench/run.sh and bench/memory.sh: the cores and files that this machine gives us, and the end of what they
# have started.

: "${scratch:=}"
children=()

die() {
    echo "bench: $*" >&2
    exit 2
}

# The first two cores that this process may use: `proxy_core` and `load_core`.
choose_cores() {
    local list range first last core cores=()
    list=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
    for range in ${list//,/ }; do
        first=${range%-*}
        last=${range#*-}
        for ((core = first; core <= last; core++)); do
            cores+=("$core")
        done
    done
    [ "${#cores[@]}" -ge 2 ] || die "this machine has one core for us: the proxy and its load need one each"
    # shellcheck disable=SC2034 # for those who start processes
    proxy_core=${cores[0]}
    # shellcheck disable=SC2034
    load_core=${cores[1]}
}

# allow_open_files COUNT: or as many as we may have, at least 16384.
allow_open_files() {
    ulimit -Sn "$1" 2>/dev/null || ulimit -Sn "$(ulimit -Hn)"
    [ "$(ulimit -Sn)" = unlimited ] || [ "$(ulimit -Sn)" -ge 16384 ] || die "needs 16384 open files (ulimit -n)"
}

stop_children() {
    local child deadline=$((SECONDS + 5))
    for child in "${children[@]}"; do
        kill "$child" 2>/dev/null || true
    done
    for child in "${children[@]}"; do
        while kill -0 "$child" 2>/dev/null && [ "$SECONDS" -lt "$deadline" ]; do
            sleep 0.05
        done
        # What nginx's master leaves behind when it is killed ends with it: its workers see the closed channel.
        kill -KILL "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    done
    children=()
}

finish() {
    trap - EXIT
    trap '' INT TERM
    stop_children
    [ -z "$scratch" ] || rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The processes that share the work of PROXY: itself and its children.
processes_of() {
    local stat fields
    echo "$1"
    for stat in /proc/[0-9]*/stat; do
        { fields=$(<"$stat"); } 2>/dev/null || continue
        fields=${fields##*) }
        read -r _ parent _ <<<"$fields"
        if [ "$parent" = "$1" ]; then
            stat=${stat%/stat}
            echo "${stat##*/}"
        fi
    done
}

# User and system time of these processes, in clock ticks.
cpu_ticks() {
    local process stat fields sum=0
    for process in "$@"; do
        stat=$(<"/proc/$process/stat")
        read -r -a fields <<<"${stat##*) }"
        sum=$((sum + fields[11] + fields[12]))
    done
    echo "$sum"
}
