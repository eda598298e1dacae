#!/usr/bin/env bash
# Comments begin with a subject. This counts the comments of the product that begin with What, Of, The same, Whom, Whose, As or It, where
# a noun can stand. A few are good sentences; their number must not grow.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

most=100
found=$(grep -rnE '^[[:space:]]*// (What|Of|The same|Whom|Whose|As|It)\b' core jose net config store a2a mcp gateway \
    --include='*.hpp' --include='*.cpp') || true
count=$(grep -c . <<<"$found") || true
if [ "$count" -gt "$most" ]; then
    printf '%s\n%s comments begin without a subject, over %s\n' "$found" "$count" "$most"
    exit 1
fi
