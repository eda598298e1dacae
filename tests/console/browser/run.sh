#!/usr/bin/env bash
# The page of the console in Debian's chromium, in front of the real gateway. CARDEA_BIN names the gateway (default: build/release),
# CHROMIUM the browser. The packages are installed once, exactly as both package-lock.json have them; the tests themselves use loopback
# only. One file runs after the other, since they measure times.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

for folder in ../../peers .; do
    if ! cmp -s "$folder/package-lock.json" "$folder/node_modules/.installed-lock.json"; then
        (cd "$folder" && npm ci --no-audit --no-fund --loglevel=error)
        cp "$folder/package-lock.json" "$folder/node_modules/.installed-lock.json"
    fi
done
if [ $# -eq 0 ]; then
    set -- *.test.js
fi
exec node --test --test-concurrency=1 --test-reporter=spec "$@"
