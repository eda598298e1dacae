#!/usr/bin/env bash
# The units of deploy/systemd: systemd accepts them without a warning, their sandbox scores at most 1.3, and what they
# share with the gateway (times, exit codes, names of descriptors, ports) is what its pages and the other units say.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

units=deploy/systemd
most_exposure=13 # tenths
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

complain() {
    printf 'check_units: %s\n' "$*"
    bad=1
}

# value UNIT KEY: the last line of that key, as systemd takes it.
value() { sed -nE "s/^$2=(.*)$/\1/p" "$units/$1" | tail -n 1; }

seconds() {
    case $1 in
        *ms) echo $((${1%ms} / 1000)) ;;
        *s) echo "${1%s}" ;;
        *m) echo $((${1%m} * 60)) ;;
        *) echo "$1" ;;
    esac
}

# The default of a setting in docs/configuration.md.
setting() { awk -F'|' -v key="\`$1\`" '{ gsub(/ /, "", $2) } $2 == key { gsub(/[ `]/, "", $4); print $4; exit }' docs/configuration.md; }

# unit_tree NAME [DROP-IN]: the units with a program that exists here; verify looks for it. The drop-in is appended: `security
# --offline` of systemd 252 does not read drop-ins.
unit_tree() {
    local tree=$scratch/$1
    mkdir -p "$tree"
    cp "$units"/*.service "$units"/*.socket "$tree"
    sed -i -E 's|^(ExecStart=)/usr/bin/cardea|\1/bin/true|' "$tree/cardea.service"
    if [ $# -gt 1 ]; then
        cat "$units/$2" >>"$tree/cardea.service"
    fi
    echo "$tree"
}

# check_tree NAME [DROP-IN]
check_tree() {
    local tree said
    tree=$(unit_tree "$@")
    said=$(SYSTEMD_UNIT_PATH=$tree: systemd-analyze verify --man=no "$tree"/cardea.service "$tree"/cardea-*.socket 2>&1) ||
        complain "$1: systemd-analyze verify fails"
    [ -z "$said" ] || complain "$1: systemd-analyze verify says: $said"
    said=$(SYSTEMD_UNIT_PATH=$tree: systemd-analyze security --offline=true --threshold="$most_exposure" "$tree/cardea.service" 2>&1) ||
        complain "$1: exposed by more than $most_exposure tenths"
    tail -n 1 <<<"$said" | sed -E "s/^[^O]*/check_units: $1: /"
}

check_times() {
    local stop drain
    stop=$(seconds "$(value cardea.service TimeoutStopSec)")
    for drain in timeouts.drain timeouts.drain_streams timeouts.drain_delay; do
        [ -n "$(setting "$drain")" ] || complain "docs/configuration.md has no $drain"
        [ "$stop" -ge $(($(seconds "$(setting "$drain")") + 5)) ] || complain "TimeoutStopSec is not 5 s over $drain"
    done
}

# The gateway tells systemd that it serves and that its threads run, twice in the watchdog's time; nothing takes that back.
check_notify() {
    [ "$(value cardea.service Type)" = notify ] || complain "the service does not wait until the gateway serves"
    [ "$(seconds "$(value cardea.service WatchdogSec)")" -ge 10 ] || complain "WatchdogSec is missing, or less than 10 s"
    [ -z "$(value cardea.service NotifyAccess)" ] || complain "NotifyAccess lets programs of MCP servers speak for the gateway"
    [ -z "$(value cardea.service Sockets)" ] || complain "Sockets= starts sockets that are disabled"
    if grep -rn 'Type=exec' "$units" deploy/debian; then
        complain "a drop-in takes Type=notify back"
    fi
}

# The exit codes of docs/operations/start.md: 2 is the one that a restart does not help.
check_exit_codes() {
    local code
    code=$(awk -F'|' '/cannot be used. stderr says/ { gsub(/ /, "", $2); print $2; exit }' docs/operations/start.md)
    [ -n "$code" ] || complain "docs/operations/start.md does not say which exit code stands for a wrong configuration"
    [ "$(value cardea.service RestartPreventExitStatus)" = "$code" ] || complain "RestartPreventExitStatus is not $code"
}

# Each socket names its descriptor after the setting that it replaces, and listens where that does.
check_sockets() {
    local socket name listen
    for socket in "$units"/*.socket; do
        socket=$(basename "$socket")
        name=$(value "$socket" FileDescriptorName)
        listen=$(value "$socket" ListenStream)
        [ "$socket" = "cardea-$name.socket" ] || complain "$socket names its descriptor $name"
        [ "$(value "$socket" Service)" = cardea.service ] || complain "$socket does not start cardea.service"
        case $name in
            traffic) [ "$listen" = "$(setting listen)" ] || complain "$socket listens on $listen, listen is $(setting listen)" ;;
            admin) [ "$listen" = "$(setting admin)" ] || complain "$socket listens on $listen, admin is $(setting admin)" ;;
        esac
    done
}

# What Node cannot run under; measured with server-everything.
check_node() {
    [ "$(value cardea.service SystemCallErrorNumber)" = EPERM ] || complain "without SystemCallErrorNumber=EPERM Node is killed by signal 31"
    [ -z "$(value cardea.service MemoryDenyWriteExecute)" ] || complain "with MemoryDenyWriteExecute Node is killed by signal 5"
    [ "$(value cardea.service KillMode)" = mixed ] || complain "with another KillMode systemd ends the programs of MCP servers under their calls"
}

check_users() {
    mkdir -p "$scratch/root/etc"
    systemd-sysusers --root="$scratch/root" "$PWD/$units/cardea.sysusers" 2>"$scratch/sysusers" || complain "systemd-sysusers: $(cat "$scratch/sysusers")"
    grep -qE '^cardea:[^:]*:[0-9]+:[0-9]+:[^:]*:/var/lib/cardea:/usr/sbin/nologin$' "$scratch/root/etc/passwd" ||
        complain "systemd-sysusers does not make the user cardea"
    [ "$(value cardea.service User)" = cardea ] || complain "the service does not run as cardea"
}

check_tree cardea.service
check_tree strict.conf strict.conf
check_times
check_notify
check_exit_codes
check_sockets
check_node
check_users
exit "$bad"
