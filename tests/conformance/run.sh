#!/usr/bin/env bash
# The MCP conformance suite and the Inspector, directly and through the gateway (run.js); the arguments name rows of it. CARDEA_BIN names the program
# (default: build/release). The packages are installed once, exactly as package-lock.json has them; the suite uses loopback only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if ! cmp -s package-lock.json node_modules/.installed-lock.json; then
    npm ci --no-audit --no-fund --loglevel=error
    cp package-lock.json node_modules/.installed-lock.json
fi
exec node run.js "$@"
