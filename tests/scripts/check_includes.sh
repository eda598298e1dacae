#!/usr/bin/env bash
# Who may include whom. A line of the table is a folder and the folders that it may include besides itself. A folder may include only
# folders of lines above its own, so that there is no circle; a folder of gateway/ is a room (docs/architecture.md, "Rooms").
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

table='
core:
jose: core
net: core
config: core
store: core
a2a: core jose
mcp: core jose net a2a
gateway/balancing: core
gateway/threads: core net store
gateway/responses: core net config a2a
gateway/grpc: core net a2a
gateway/model: core jose net config store a2a mcp + balancing threads responses
gateway/telemetry: core net a2a mcp + model
gateway/access: core jose net config a2a mcp + threads model telemetry
gateway/tokens: core jose net + model telemetry
gateway/push: core jose net config store a2a + threads model telemetry
gateway/replicas: core net store + threads model telemetry
gateway/cards: core jose net config store a2a mcp + threads model telemetry
gateway/sessions: core net config mcp + threads model telemetry cards
gateway/management: core jose net config store mcp + threads model telemetry cards sessions
gateway/cli: core jose net config a2a mcp + model telemetry access
gateway/relay: core net config a2a mcp + balancing threads responses model access
gateway/mcp/table: core net mcp + model
gateway/mcp/http: core net mcp + model mcp/table
gateway/mcp/programs: core net mcp + model mcp/table
gateway/mcp/shared: core net mcp + model mcp/table mcp/programs
gateway/mcp/eras: core net mcp + model mcp/table mcp/http mcp/programs mcp/shared
gateway/mcp: core net mcp + model mcp/table mcp/programs mcp/shared mcp/eras
gateway/bridge: core jose net a2a mcp + threads responses model telemetry
gateway/bundles: core net config store mcp + threads model telemetry access mcp/table
gateway/request: core net config a2a + balancing grpc responses model telemetry access relay
gateway/pages: core net + responses model access relay request
gateway/a2a: core net config a2a + grpc threads responses model access relay request
gateway/mcp/route: core net config mcp + threads responses model access relay request bundles telemetry
gateway/worker: core net config + responses model telemetry relay request pages a2a mcp/route
gateway/monitors: core net config + balancing model telemetry cards worker
gateway/reload: core jose net config mcp + threads model telemetry management cli
gateway/console: core net config + responses model telemetry
gateway/admin: core net config + threads responses model telemetry access management relay pages worker reload console
gateway/lifecycle: core net config store + threads responses model telemetry worker reload
gateway/upgrade: core net config store mcp + threads model sessions cli reload lifecycle
gateway/wiring: core jose net config store mcp + threads responses model telemetry access tokens push replicas cards sessions management mcp/http mcp bridge bundles worker monitors reload console admin lifecycle upgrade
gateway: core jose net config store a2a mcp + model telemetry cli reload lifecycle upgrade wiring
examples:
'

# Includes are written from the root: a bare name or a relative path would hide what is included.
found=$(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' tests bench --include='*.hpp' --include='*.cpp' --exclude-dir=node_modules |
    grep -vE '"(core|jose|net|config|store|a2a|mcp|gateway|examples|tests|bench)/') || true
if [ -n "$found" ]; then
    printf 'includes are written from the root of the repository:\n%s\n' "$found"
    exit 1
fi

sources=$(find core jose net config store a2a mcp gateway examples -name '*.hpp' -o -name '*.cpp')
# shellcheck disable=SC2086 # a list of files
includes=$(grep -E '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' $sources)

awk -v table="$table" '
    BEGIN {
        count = split(table, lines, "\n")
        for (i = 1; i <= count; ++i) {
            if (split(lines[i], parts, ":") != 2) continue
            folder = parts[1]
            room = 0
            words = split(parts[2], word, " ")
            for (j = 1; j <= words; ++j) {
                if (word[j] == "+") { room = 1; continue }
                other = room ? "gateway/" word[j] : word[j]
                if (!(other in known)) { print "the table: " folder " may not include " other ", which is not above it"; bad = 1 }
                may[folder, other] = 1
                arrows += room && folder != "gateway"  # main.cpp is no room
            }
            known[folder] = may[folder, folder] = 1
        }
    }
    # Folders of the sources above gateway are one each, whatever lies below them.
    function folder_of(path) {
        sub(/\/[^\/]*$/, "", path)
        if (path !~ /^gateway(\/|$)/) sub(/\/.*/, "", path)
        return path
    }
    {
        file = substr($0, 1, index($0, ":") - 1)
        split($0, quoted, "\"")
        from = folder_of(file)
        to = folder_of(quoted[2])
        if (quoted[2] !~ /\//) { print file ": includes are written from the root of the repository: " quoted[2]; bad = 1 }
        else if (!(from in known)) { print file ": " from " is not in the table"; bad = 1 }
        else if (!((from, to) in may)) { print file ": " from " may not include " quoted[2]; bad = 1 }
        else used[from, to] = 1
    }
    END {
        for (pair in may) {
            split(pair, parts, SUBSEP)
            if (parts[1] ~ /^gateway\// && parts[2] ~ /^gateway\// && parts[1] != parts[2] && !(pair in used)) {
                print "the table: " parts[1] " does not include " parts[2]
                bad = 1
            }
        }
        # 150, and those of replicas/, which hears of others what each room does.
        if (arrows > 155) { print "the table: " arrows " arrows between rooms, over 155"; bad = 1 }
        exit bad
    }' <<<"$includes"
