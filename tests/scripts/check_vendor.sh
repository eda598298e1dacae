#!/usr/bin/env bash
# What the console has of others is what its lock file says, and nothing beside it: a change comes from ./dev vendor.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../gateway/console"

sums=$(grep -v '^#' vendor.lock)
if ! diff <(awk '{print $2}' <<<"$sums" | sort) <(find page/vendor -type f | sort); then
    echo 'gateway/console/page/vendor has other files than vendor.lock'
    exit 1
fi
sha256sum --check --quiet --strict <<<"$sums"
