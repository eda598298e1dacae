#!/usr/bin/env bash
# Copies what the console has of others into gateway/console/page/vendor, with licences: preact with its hooks, and htm. The archives
# must be those of the lock file, which also has the sums of what is copied (tests/scripts/check_vendor.sh compares). With --update
# the script writes another lock file, for other versions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

lock=vendor.lock
to=page/vendor
preact=11.2.0
htm=3.1.1

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# copy PACKAGE VERSION FILE LICENCE NAME: a module, with its licence in a comment, and without the address of a map that is not copied.
# The hooks import preact by its name, which a page without an import map cannot find.
copy() {
    {
        printf '/* %s %s, %s: LICENSE.%s */\n' "$1" "$2" "$4" "$1"
        sed -e '/^\/\/# sourceMappingURL=/d' -e 's/from"preact"/from".\/preact.js"/' "$folder/$1/package/$3"
    } >"$to/$5"
}

rm -rf "$to"
mkdir -p "$to"
{
    echo '# What ./dev vendor has copied: archives of the npm registry, then files with their SHA-256.'
    for package in "preact@$preact" "htm@$htm"; do
        name=${package%@*}
        npm pack --silent --pack-destination "$folder" "$package" >/dev/null
        archive=$folder/${package/@/-}.tgz
        printf '# %s sha512-%s\n' "$package" "$(openssl dgst -sha512 -binary "$archive" | base64 -w 0)"
        mkdir "$folder/$name"
        tar -xzf "$archive" -C "$folder/$name"
        cp "$folder/$name/package/LICENSE" "$to/LICENSE.$name"
    done
    copy preact "$preact" dist/preact.mjs MIT preact.js
    copy preact "$preact" hooks/dist/hooks.mjs MIT hooks.js
    copy htm "$htm" dist/htm.mjs Apache-2.0 htm.js
    sha256sum "$to"/*
} >"$folder/$lock"

if [ "${1:-}" = --update ]; then
    cp "$folder/$lock" "$lock"
elif ! diff -u "$lock" "$folder/$lock"; then
    echo "vendor: the copies are not those of gateway/console/$lock" >&2
    exit 1
fi
