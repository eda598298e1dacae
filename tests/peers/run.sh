#!/usr/bin/env bash
# Real SDKs through the gateway. CARDEA_BIN and DEMO_AGENT_BIN name the programs (default: build/release). The packages
# are installed once, exactly as package-lock.json has them; the tests themselves use loopback only. CARDEA_PEERS_LOG=1
# shows what the SDKs' servers say.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if ! cmp -s package-lock.json node_modules/.installed-lock.json; then
    npm ci --no-audit --no-fund --loglevel=error
    cp package-lock.json node_modules/.installed-lock.json
fi
exec node --test --test-reporter=spec "$@" sdk_agents.test.js demo_agents.test.js card_shapes.test.js extended_card.test.js signatures.test.js a2a_matrix.test.js grpc.test.js http2_agents.test.js agent_tools.test.js missing_slash.test.js config_schema.test.js mcp_servers.test.js mcp_http.test.js mcp_eras.test.js mcp_captures.test.js mcp_flag.test.js mcp_calls.test.js mcp_program_calls.test.js mcp_modern_servers.test.js mcp_translation.test.js mcp_isolation.test.js mcp_replicas.test.js replicas.test.js mcp_fields.test.js mcp_pasted.test.js mcp_matrix.test.js mcp_features.test.js mcp_bundle.test.js a2a_tools.test.js access.test.js managed_card.test.js oidc.test.js traces.test.js
