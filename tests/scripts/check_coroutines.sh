#!/usr/bin/env bash
# Shapes of co_await that compilers we accept have turned into use-after-free, and lifetimes nobody can see: a braced
# temporary or a lambda with captures in a statement that awaits, co_await inside ?: or a switch condition, coroutine
# lambdas that capture, coroutines that take rvalue references. Name the value first, then move it.
# It sees one line at a time, so it misses some; the asan preset is the guard.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

awaits='co_await[^;{]*\{[^[:space:]]|co_await[^;]*(\?|[^][A-Za-z0-9_)"]\[[&=a-z])|\?[^;]*co_await|switch \(co_await'
lambdas='\[[^]]+\] *\([^)]*\)[^{;]*-> *(boost::)?(asio::)?awaitable<'
rvalues='^[[:space:]]*(static )?(boost::)?(asio::)?awaitable<.*[a-z_>]&& [a-z_]+[,)]'

bad=0
for folder in core jose net config store a2a mcp gateway examples; do
    [ -d "$folder" ] || continue
    while IFS= read -r file; do
        # Comments may say co_await in any words they like.
        found=$(sed -E 's,(^|[[:space:]])//.*,,' "$file" | grep -nE "$awaits|$lambdas|$rvalues" | sed "s|^|$file:|") || true
        if [ -n "$found" ]; then
            printf '%s\n' "$found"
            bad=1
        fi
    done < <(find "$folder" -name '*.hpp' -o -name '*.cpp')
done
exit "$bad"
