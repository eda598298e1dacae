#!/usr/bin/env bash
# package.sh [--sign KEY] [FOLDER]: makes in build/package what a release consists of: the Debian package with its debug symbols,
# the same files as a tarball, the Helm chart, the SBOM and SHA256SUMS. `./dev package` calls this.
#   KEY     a secret key of minisign, which signs SHA256SUMS
#   FOLDER  where `cardea` and `demo_agent` are that are packaged instead of built
# It builds what git has here, in a scratch tree. The times in the results are those of the commit, so that two builds are equal.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

key=
if [ "${1:-}" = --sign ]; then
    key=$(realpath "${2:?package: --sign needs a key}")
    shift 2
fi
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
CCACHE_DIR=${CCACHE_DIR:-$(ccache --get-config cache_dir 2>/dev/null || echo "$HOME/.cache/ccache")} # debhelper changes HOME
export SOURCE_DATE_EPOCH CCACHE_DIR TZ=UTC LC_ALL=C.UTF-8
# Names of commits have no order, and apt refuses a version that sorts before the installed one: the time comes first.
debian_version=$base+git$(date -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S).$commit${changed:+.changed}
umask 022

# packed: a tar of the arguments, without what differs from build to build.
packed() { tar --create --dereference --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner "$@"; }

make_tree() {
    rm -rf "$out"
    mkdir -p "$tree"
    git archive "${changed:-HEAD}" | tar -x -C "$tree"
    cp -r "$tree/deploy/debian" "$tree/debian"
    echo "$version" >"$tree/VERSION"
    cat >"$tree/debian/changelog" <<END
cardea ($debian_version) unstable; urgency=medium

  * Commit $commit. docs/upgrading.md says what has changed.

 -- Cardea maintainers <maintainers@cardea.example>  $(date -R -d "@$SOURCE_DATE_EPOCH")
END
}

make_deb() {
    if [ -n "$binaries" ]; then
        export CARDEA_BINARIES=$binaries
    fi
    (cd "$tree" && dpkg-buildpackage --build=binary --no-sign --no-check-builddeps) >"$out/log" 2>&1 || {
        tail -n 40 "$out/log" >&2
        echo "package: FAILED; the whole log is $out/log" >&2
        exit 1
    }
}

# What the package installs, below a folder with the version.
make_tarball() {
    local name
    name=cardea-$version-linux-$(dpkg --print-architecture)
    mv "$tree/debian/cardea" "$out/$name"
    rm -r "$out/$name/DEBIAN"
    packed -C "$out" "$name" | zstd -q -19 -T1 -o "$out/$name.tar.zst"
    deploy/make_sbom.py "$out/$name/usr/bin/cardea" "$version" "$commit" >"$out/cardea-$version.spdx.json"
    rm -r "${out:?}/$name"
}

make_chart() { packed -C "$tree/deploy/helm" cardea | gzip -n -9 >"$out/cardea-chart-$(sed -n 's/^version: //p' deploy/helm/cardea/Chart.yaml).tgz"; }

make_tree
make_deb
make_tarball
make_chart
rm -r "$tree"
cd "$out"
sha256sum -- *.deb *.tar.zst *.tgz *.spdx.json >SHA256SUMS
if [ -n "$key" ]; then
    minisign -S -s "$key" -m SHA256SUMS
fi
cat SHA256SUMS
