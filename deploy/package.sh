#!/usr/bin/env bash
# Makes the Debian package of what git has here: `./dev package [FOLDER]`. It is built in a scratch tree, build/package/tree;
# the result is in build/package. With FOLDER, `cardea` and `demo_agent` of that folder are packaged instead of built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

binaries=
if [ -n "${1:-}" ]; then
    binaries=$(realpath "$1")
fi
out=$PWD/build/package
tree=$out/tree

commit=$(git rev-parse --short=12 HEAD)
changed=$(git stash create) # the tracked files as they are, if they are not as committed
base=$(sed -nE 's/^project\(cardea VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
version=$base+g$commit${changed:+.changed}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
umask 022

rm -rf "$out"
mkdir -p "$tree"
git archive "${changed:-HEAD}" | tar -x -C "$tree"
cp -r "$tree/deploy/debian" "$tree/debian"
cat >"$tree/debian/changelog" <<END
cardea ($version) unstable; urgency=medium

  * Commit $commit. docs/upgrading.md says what has changed.

 -- Cardea maintainers <maintainers@cardea.example>  $(date -R -d "@$SOURCE_DATE_EPOCH")
END

if [ -n "$binaries" ]; then
    export CARDEA_BINARIES=$binaries
fi
(cd "$tree" && dpkg-buildpackage --build=binary --no-sign --no-check-builddeps) >"$out/log" 2>&1 || {
    tail -n 40 "$out/log" >&2
    echo "package: FAILED; the whole log is $out/log" >&2
    exit 1
}
rm -rf "$tree"
(cd "$out" && sha256sum -- *.deb >SHA256SUMS && cat SHA256SUMS)
