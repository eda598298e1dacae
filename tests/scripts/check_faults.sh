#!/usr/bin/env bash
# tests/data/faults.txt: each of its rows names a test that exists, in a file that is built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

table=tests/data/faults.txt
bad=0
rows=0

while IFS='|' read -r what answer file name; do
    case $what in '' | '#'*) continue ;; esac
    rows=$((rows + 1))
    file=${file# } file=${file% } name=${name# }
    if [ -z "${answer// /}" ] || [ ! -f "$file" ]; then
        echo "$table: ${what% }: no answer, or there is no $file"
        bad=1
    elif ! grep -qF "TEST_CASE(\"$name\"" "$file"; then
        echo "$table: ${what% }: $file has no test \"$name\""
        bad=1
    elif ! grep -qrwF --include=CMakeLists.txt "$(basename "$file")" "$(dirname "$file")"; then
        echo "$table: ${what% }: $file is not built"
        bad=1
    fi
done <"$table"
if [ "$rows" -lt 60 ]; then
    echo "$table: $rows rows, fewer than 60"
    bad=1
fi
exit "$bad"
