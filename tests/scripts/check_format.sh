#!/usr/bin/env bash
# Every C++ file is as .clang-format wants it. `./dev format` repairs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

folders=()
for folder in core jose net config store a2a mcp gateway examples tests bench; do
    if [ -d "$folder" ]; then
        folders+=("$folder")
    fi
done
find "${folders[@]}" -name node_modules -prune -o \( -name '*.cpp' -o -name '*.hpp' \) -print0 |
    xargs -0 -r clang-format-19 --dry-run -Werror
