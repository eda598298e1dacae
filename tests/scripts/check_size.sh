#!/usr/bin/env bash
# Files up to 600 lines, functions up to 60. A file or a function beyond that is split where a responsibility ends, or the file says why
# in a comment: "over 600 lines: ..." or "over 60 lines: ...". A class has no limit of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

bad=0

# files LIMIT FOLDER...
files() {
    local limit=$1 file lines
    shift
    while IFS= read -r file; do
        lines=$(wc -l <"$file")
        if [ "$lines" -gt "$limit" ] && ! grep -q "over $limit lines:" "$file"; then
            echo "$file: $lines lines, over $limit"
            bad=1
        fi
    done < <(find "$@" -name node_modules -prune -o \( -name '*.cpp' -o -name '*.hpp' -o -name '*.js' -o -name '*.sh' \) -print)
}

# A function's body starts with a brace alone on its line (.clang-format: AfterFunction) and ends at the same indentation.
functions() {
    local file found
    while IFS= read -r file; do
        found=$(awk -v file="$file" '
            !start && /^ *\{$/ { start = NR; indent = index($0, "{"); next }
            start && /^ *\}/ && index($0, "}") == indent {
                if (NR - start - 1 > 60) printf "%s:%d: a function of %d lines, over 60\n", file, start, NR - start - 1
                start = 0
            }' "$file")
        if [ -n "$found" ] && ! grep -q "over 60 lines:" "$file"; then
            printf '%s\n' "$found"
            bad=1
        fi
    done < <(find "$@" -name '*.cpp' -o -name '*.hpp')
}

sources=()
for folder in core jose net config store a2a mcp gateway examples bench; do
    if [ -d "$folder" ]; then
        sources+=("$folder")
    fi
done
files 600 "${sources[@]}" tests
functions "${sources[@]}"
exit "$bad"
