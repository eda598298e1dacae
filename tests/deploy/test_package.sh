#!/usr/bin/env bash
# The Debian package: lintian and mandoc accept it, its files have the right modes, its completions complete, the gateway in it
# runs with the configuration in it, the links of its pages lead to installed files, and a build in another folder gives the same bytes.
# `./dev deploy-test package` calls this. CARDEA_BINARIES: a folder with binaries to package instead of building them, twice.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scratch=$(mktemp -d)
gateway=
stop() {
    [ -z "$gateway" ] || kill "$gateway" 2>/dev/null || true
    wait
    rm -rf "$scratch"
}
trap stop EXIT
bad=0

complain() {
    printf 'test_package: %s\n' "$*"
    bad=1
}

# expect WHAT HAVE WANT
expect() { [ "$2" = "$3" ] || complain "$1 is '$2', not '$3'"; }

check_lintian() {
    lintian --fail-on error,warning --display-info --pedantic --allow-root build/package/*.changes >"$scratch/lintian" 2>&1 || complain "lintian fails"
    [ ! -s "$scratch/lintian" ] || complain "lintian says: $(cat "$scratch/lintian")"
}

check_files() {
    local path
    expect "the mode of cardea.yml" "$(stat -c %a "$root/etc/cardea/cardea.yml")" 640
    # Or apt would call an upgrade to some of the later commits a downgrade, and refuse it.
    expect "the begin of the version" "$(dpkg-deb -f "$package" Version | sed -E 's/^[0-9.]+\+//; s/\..*//')" \
        "git$(TZ=UTC git log -1 --format=%cd --date=format-local:%Y%m%d%H%M%S)"
    expect "the list of conffiles" "$(dpkg-deb --ctrl-tarfile "$package" | tar -xO ./conffiles)" /etc/cardea/cardea.yml
    for path in usr/bin/cardea usr/lib/cardea/demo_agent usr/lib/sysusers.d/cardea.conf lib/systemd/system/cardea.service \
        lib/systemd/system/cardea-{traffic,admin,metrics}.socket usr/share/cardea/cardea.schema.json \
        usr/share/cardea/prometheus/cardea.rules.yml usr/share/cardea/grafana/cardea-overview.json \
        usr/share/doc/cardea/docs/runbook.md usr/share/man/man1/cardea.1.gz usr/share/man/man5/cardea.yml.5.gz; do
        [ -s "$root/$path" ] || complain "the package has no $path"
    done
    [ -z "$(find "$root" -perm /6022 ! -type l)" ] || complain "set-uid, or writable for others: $(find "$root" -perm /6022 ! -type l)"
    # debhelper keeps it out of what it builds.
    if [ -z "${CARDEA_BINARIES:-}" ] && grep -qF "$PWD" "$root/usr/bin/cardea"; then
        complain "the binary holds the path of its build"
    fi
}

check_manuals() {
    local page said
    for page in man1/cardea.1 man5/cardea.yml.5; do
        gunzip -c "$root/usr/share/man/$page.gz" >"$scratch/${page#*/}"
        said=$(mandoc -T lint "$scratch/${page#*/}") || true
        [ -z "$said" ] || complain "$page: $said"
    done
    zgrep -q -F -- '\fB\-\-listen HOST:PORT\fR' "$root/usr/share/man/man1/cardea.1.gz" || complain "cardea.1 does not have --listen"
    zgrep -q '^\\fBtimeouts.drain\\fR$' "$root/usr/share/man/man5/cardea.yml.5.gz" || complain "cardea.yml.5 does not have timeouts.drain"
}

# completed WORD...: what bash offers after these words, the last of which is incomplete.
completed() {
    bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _cardea; echo "${COMPREPLY[*]}"' \
        bash "$root/usr/share/bash-completion/completions/cardea" "$@"
}

check_completions() {
    local fish=$root/usr/share/fish/vendor_completions.d/cardea.fish
    expect "bash: cardea va" "$(completed cardea va)" "validate"
    expect "bash: cardea agents r" "$(completed cardea agents r)" "refresh reset restart remove rm"
    expect "bash: cardea agents get w, without a gateway" "$(CARDEA_ADMIN=127.0.0.1:1 completed "$root/usr/bin/cardea" agents get w)" ""
    expect "bash: cardea status --sort" "$(completed cardea status --sort "")" "id trouble calls failed p99"
    expect "bash: cardea agents list --protocol" "$(completed cardea agents list --protocol "")" "a2a mcp"
    expect "bash: cardea run -c" "$(completed cardea run -c "")" ""
    expect "fish: cardea va" "$(fish -N -c "source $fish; complete -C 'cardea va'" | cut -f1 | paste -sd' ')" "validate"
    expect "fish: cardea agents list --protocol" "$(fish -N -c "source $fish; complete -C 'cardea agents list --protocol '" | cut -f1 | paste -sd' ')" "a2a mcp"
    zsh -n "$root/usr/share/zsh/vendor-completions/_cardea" || complain "zsh does not accept its completion"
}

# As the service runs it, except for the addresses and the store, which are this test's own.
check_run() {
    local admin=
    "$root/usr/bin/cardea" run -c "$root/etc/cardea/cardea.yml" --store memory --listen 127.0.0.1:0 --admin 127.0.0.1:0 2>"$scratch/log" &
    gateway=$!
    for _ in $(seq 100); do
        admin=$(sed -nE 's/.*"event":"listening".*"admin":"([^"]*)".*/\1/p' "$scratch/log")
        [ -z "$admin" ] || break
        sleep 0.1
    done
    expect "the answer of /readyz" "$(curl -s -o /dev/null -w '%{http_code}' "http://$admin/readyz")" 200
    export CARDEA_ADMIN=$admin
    "$root/usr/bin/cardea" agents add words http://127.0.0.1:1/ >/dev/null
    expect "bash: cardea agents get w" "$(completed "$root/usr/bin/cardea" agents get w)" "words"
    expect "bash: cardea call" "$(completed "$root/usr/bin/cardea" call "")" "words"
    expect "bash: cardea events --agent" "$(completed "$root/usr/bin/cardea" events --agent "")" "words"
    expect "bash: cardea call words" "$(completed "$root/usr/bin/cardea" call words --st)" "--stream"
    expect "fish: cardea call" "$(PATH=$root/usr/bin:$PATH fish -N -c "source $root/usr/share/fish/vendor_completions.d/cardea.fish; complete -C 'cardea call '" | cut -f1 | paste -sd' ')" "words"
    unset CARDEA_ADMIN
}

# The SBOM is valid SPDX and names what is linked in and loaded; the tarball has the package's files.
check_release() {
    local tools=$PWD/build/tools/spdx sbom name
    sbom=$(echo build/package/*.spdx.json)
    if [ ! -x "$tools/bin/pyspdxtools" ]; then
        python3 -m venv "$tools"
        "$tools/bin/pip" install -q spdx-tools==0.8.5 >&2
    fi
    "$tools/bin/pyspdxtools" -i "$sbom" >"$scratch/spdx" 2>&1 || complain "pyspdxtools: $(cat "$scratch/spdx")"
    for name in libssl3 libyaml-cpp-dev preact htm; do
        grep -q "\"name\": \"$name\"" "$sbom" || complain "the SBOM does not have $name"
    done
    grep -qF "$(sha256sum "$root/usr/bin/cardea" | cut -d' ' -f1)" "$sbom" || complain "the SBOM is of another binary"
    tar --zstd -xf build/package/*.tar.zst -C "$scratch"
    diff -r --no-dereference "$root" "$(echo "$scratch"/cardea-*-linux-*)" || complain "the tarball has other files than the package"
    tar -tf build/package/cardea-chart-*.tgz cardea/files/cardea.rules.yml >/dev/null || complain "the chart misses the rules"
}

# A page in the package is read without the sources.
check_links() {
    local page target doc=$root/usr/share/doc/cardea
    while IFS= read -r page; do
        while IFS= read -r target; do
            case $target in *://* | '#'*) continue ;; esac
            [ -e "$(dirname "$page")/${target%%#*}" ] || complain "${page#"$root"}: the link $target leads nowhere"
        done < <(grep -oE '\]\([^) ]+\)' "$page" | sed -E 's/^\]\((.*)\)$/\1/')
    done < <(find "$doc/docs" "$doc/deploy" -name '*.md')
}

# A second build in another folder, with other settings of its surroundings. It is signed too.
check_repeatable() {
    local elsewhere=$PWD/build/elsewhere/sources changes=$scratch/changes
    rm -rf "$elsewhere"
    git clone -q --no-hardlinks . "$elsewhere"
    git diff --binary HEAD >"$changes"
    if [ -s "$changes" ]; then
        git -C "$elsewhere" apply --index "$changes"
    fi
    minisign -G -W -p "$scratch/key.pub" -s "$scratch/key" >/dev/null
    (umask 077 && TZ=Asia/Tokyo "$elsewhere/deploy/package.sh" --sign "$scratch/key" "${CARDEA_BINARIES:+$(realpath "$CARDEA_BINARIES")}") >"$scratch/second"
    minisign -Vq -p "$scratch/key.pub" -m "$elsewhere/build/package/SHA256SUMS" || complain "the signature is not valid"
    diff build/package/SHA256SUMS "$elsewhere/build/package/SHA256SUMS" || complain "a build in another folder gives other packages"
    rm -rf "$elsewhere"
}

deploy/package.sh "${CARDEA_BINARIES:-}"
package=$(echo build/package/cardea_*.deb)
root=$scratch/root
dpkg-deb -x "$package" "$root"
check_lintian
check_files
check_links
check_manuals
check_completions
check_run
check_release
check_repeatable
[ "$bad" -eq 0 ] || exit 1
echo "test_package: passed: $(stat -c %s build/package/cardea_*.deb) bytes, binary $(stat -c %s "$root/usr/bin/cardea")"
