#!/usr/bin/env bash
# The dashboards have the types of @grafana/schema: Grafana itself is not needed. `./dev deploy-test` calls this.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tools=build/tools/grafana
schema=10.4.2
typescript=5.4.5

if [ ! -x "$tools/node_modules/.bin/tsc" ]; then
    mkdir -p "$tools"
    npm install --prefix "$tools" --no-save --no-audit --no-fund "@grafana/schema@$schema" "typescript@$typescript" >&2
fi

# Text in a JSON file stands for a member of an enum.
{
    cat <<'END'
import type { Dashboard } from '@grafana/schema/dist/esm/raw/dashboard/x/dashboard_types.gen';
type Loose<T> = T extends string ? `${T}`
    : T extends Array<infer U> ? Array<Loose<U>>
    : T extends object ? { [K in keyof T]: Loose<T[K]> } : T;
END
    count=0
    for dashboard in deploy/grafana/dashboards/*.json; do
        count=$((count + 1))
        printf '// %s\nexport const dashboard%d: Loose<Dashboard> =\n' "$dashboard" "$count"
        cat "$dashboard"
        echo ';'
    done
} >"$tools/dashboards.ts"
"$tools/node_modules/.bin/tsc" --noEmit --strict --skipLibCheck --moduleResolution node "$tools/dashboards.ts"
echo "test_dashboard_types: passed"
