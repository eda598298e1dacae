#!/usr/bin/env bash
# The package is installed, used, upgraded, removed and purged in a booted Debian (installed.sh). Ports 4000, 4001 and 24010 have to
# be free. `./dev deploy-test install` calls this, as root, with the package in build/package; CARDEA_BINARIES as for
# test_package.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/deploy/booted.sh
. tests/deploy/booted.sh

everything=$PWD/build/tools/everything
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if [ ! -d "$everything/node_modules" ]; then
    npm install --prefix "$everything" --no-save --no-audit --no-fund @modelcontextprotocol/server-everything >&2
fi
unpack_debian "$scratch"
mkdir -p "$scratch/opt"
cp -r "$everything" "$scratch/opt/everything"
cp tests/deploy/installed.sh "$scratch/test.sh"
cp tests/deploy/calls.js "$scratch"
boot_debian "$scratch" 300

cat "$scratch/result" || cat "$scratch/console"
[ "$(tail -n 1 "$scratch/result")" = "end of the test" ] || {
    echo "test_install: not complete" >&2
    exit 1
}
if grep -q '^FAILED' "$scratch/result"; then
    exit 1
fi
echo "test_install: passed"
