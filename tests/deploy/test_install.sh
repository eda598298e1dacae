#!/usr/bin/env bash
# A Debian that mmdebstrap makes boots in systemd-nspawn, and the package is installed, used, upgraded, removed and purged there
# (installed.sh). It shares the network of this machine: ports 4000, 4001 and 24010 have to be free. `./dev deploy-test install`
# calls this, as root, with the package in build/package; CARDEA_BINARIES as for test_package.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tools=$PWD/build/tools
system=$tools/debian.tar
everything=$tools/everything
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

mkdir -p "$tools"
if [ ! -e "$system" ]; then
    echo "test_install: making a Debian" >&2
    mmdebstrap --quiet --variant=minbase \
        --include=ca-certificates,curl,dbus,libcurl4,libsqlite3-0,libstdc++6,nodejs,procps,systemd,systemd-sysv,zlib1g \
        bookworm "$tools/debian.new.tar"
    mv "$tools/debian.new.tar" "$system"
fi
if [ ! -d "$everything/node_modules" ]; then
    npm install --prefix "$everything" --no-save --no-audit --no-fund @modelcontextprotocol/server-everything >&2
fi
if ! compgen -G 'build/package/cardea_*.deb' >/dev/null; then
    deploy/package.sh "${CARDEA_BINARIES:-}"
fi

tar -xf "$system" -C "$scratch"
cp build/package/cardea_*.deb "$scratch/cardea.deb"
mkdir -p "$scratch/opt"
cp -r "$everything" "$scratch/opt/everything"
install -m 755 tests/deploy/installed.sh "$scratch/installed.sh"
cat >"$scratch/etc/systemd/system/installed.service" <<'END'
[Service]
Type=idle
ExecStart=/installed.sh
ExecStopPost=/bin/systemctl poweroff
END
mkdir -p "$scratch/etc/systemd/system/multi-user.target.wants"
ln -s ../installed.service "$scratch/etc/systemd/system/multi-user.target.wants/installed.service"

timeout 300 systemd-nspawn --quiet --boot --register=no --keep-unit --directory="$scratch" >"$scratch/console" 2>&1 </dev/null ||
    echo "test_install: systemd-nspawn ended with $?" >&2
cat "$scratch/result" || cat "$scratch/console"
[ "$(tail -n 1 "$scratch/result")" = "end of the test" ] || {
    echo "test_install: not complete" >&2
    exit 1
}
if grep -q '^FAILED' "$scratch/result"; then
    exit 1
fi
echo "test_install: passed"
