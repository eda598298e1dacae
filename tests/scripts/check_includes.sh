#!/usr/bin/env bash
# Who may include whom: core <- jose <- a2a, core <- net <- mcp -> a2a, jose, core <- config, core <- store. gateway includes
# everything and nothing includes gateway. Inside it: reach <- model, traffic; model <- telemetry <- traffic, model <- access <- traffic, model <- tokens, model <- push,
# model, telemetry <- mcp_path <- traffic and model <- cards <- sessions <- management; cli sees only model and access; what stands in gateway/ itself sees every room,
# and no room sees that. A folder always includes itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

all='core|jose|net|config|store|a2a|mcp|gateway|examples|tests|bench'
bad=0

# may FOLDER ALLOWED: the project headers FOLDER may include, as an alternation of folders.
may() {
    local folder=$1 allowed=$2 found
    [ -d "$folder" ] || return 0
    found=$(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[\"<]($all)/" "$folder" --include='*.hpp' --include='*.cpp' |
        grep -vE "[\"<]($allowed)/") || true
    if [ -n "$found" ]; then
        printf '%s may include only %s:\n%s\n' "$folder" "$allowed" "$found"
        bad=1
    fi
}

may core 'core'
may jose 'core|jose'
may net 'core|net'
may config 'core|config'
may store 'core|store'
may a2a 'core|jose|a2a'
may mcp 'core|jose|net|a2a|mcp'
may gateway 'core|jose|net|config|store|a2a|mcp|gateway'
below='core|jose|net|config|store|a2a|mcp'
may gateway/reach 'core|gateway/reach'
may gateway/model "core|jose|net|config|store|a2a|mcp|gateway/(reach|model)"
may gateway/telemetry "core|a2a|mcp|gateway/(model|telemetry)"
may gateway/access "core|jose|net|config|a2a|gateway/(model|access)"
may gateway/mcp_path "core|net|mcp|gateway/(model|telemetry|mcp_path)"
may gateway/traffic "core|net|config|a2a|mcp|gateway/(reach|model|telemetry|access|mcp_path|traffic)"
may gateway/cards "$below|gateway/(model|cards)"
may gateway/sessions "$below|gateway/(model|cards|sessions)"
may gateway/tokens "core|jose|net|config|gateway/(model|tokens)"
may gateway/push "core|jose|net|config|store|a2a|gateway/(model|push)"
may gateway/management "$below|gateway/(model|cards|sessions|management)"
may gateway/cli "core|jose|net|config|a2a|gateway/(model|access|cli)"
may examples 'examples'

# Includes are written from the root: a bare name or a relative path would hide what is included.
found=$(for folder in core jose net config store a2a mcp gateway examples tests; do
    [ -d "$folder" ] || continue
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$folder" --include='*.hpp' --include='*.cpp' --exclude-dir=node_modules |
        grep -vE "\"($all)/" || true
done)
if [ -n "$found" ]; then
    printf 'includes are written from the root of the repository:\n%s\n' "$found"
    bad=1
fi
exit "$bad"
