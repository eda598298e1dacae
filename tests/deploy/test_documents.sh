#!/usr/bin/env bash
# What docs/quickstart.md, the tutorials and docs/upgrading.md have a reader paste runs as it is, in order, in a booted Debian with
# the package, and prints what they say (documents.py). The first card by the package takes at most 60 s. Ports 443, 4000, 4001, 4002, 9000, 9001
# and 9090 have to be free. `./dev deploy-test documents` calls this, as root; CARDEA_BINARIES as for test_package.sh. What
# docs/tutorials/kubernetes.md has runs in test_helm.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/deploy/booted.sh
. tests/deploy/booted.sh

most=60 # seconds for the quickstart, which the page promises for the first card
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

mapfile -t pages < <(tests/deploy/documents.py installed)
unpack_debian "$scratch"
mkdir -p "$scratch/documents" "$scratch/root/package"
for package in build/package/cardea_*.deb; do
    mv "$scratch/cardea.deb" "$scratch/root/package/$(basename "$package")" # with its own name, as a reader has it
done
tests/deploy/documents.py scripts "$scratch/documents" "${pages[@]}"
{
    printf '#!/bin/bash\nset -u\nexport HOME=/root\ncd /root/package || exit 1\n'
    printf "trap 'journalctl --no-pager -u cardea >/documents/journal' EXIT\\n"
    for page in "${pages[@]}"; do
        name=$(basename "$page" .md)
        # Later pages go on from the first.
        printf 'bash /documents/%s.sh >/documents/%s.out 2>&1 || exit 1\n' "$name" "$name"
    done
} >"$scratch/test.sh"
boot_debian "$scratch" 600

tests/deploy/documents.py compare "$scratch/documents" "${pages[@]}" || {
    tail -n 40 "$scratch/documents/journal" || tail -n 40 "$scratch/console"
    exit 1
}
seconds=$(sed -nE 's/^== end after ([0-9]+) s$/\1/p' "$scratch/documents/quickstart.out")
[ "$seconds" -le "$most" ] || {
    echo "test_documents: the quickstart takes $seconds s"
    exit 1
}
echo "test_documents: passed"
