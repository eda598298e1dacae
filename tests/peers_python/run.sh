#!/usr/bin/env bash
# The A2A SDKs for Python of both generations, and FastMCP, through the gateway. CARDEA_BIN names the gateway (default: build/release). The
# packages are installed once, into build/python; the tests themselves use loopback only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
builds=$PWD/../../build/python

for generation in 03 1 fastmcp; do
    if ! cmp -s "requirements-$generation.txt" "$builds/$generation/.installed"; then
        rm -rf "${builds:?}/$generation"
        python3 -m venv "$builds/$generation"
        "$builds/$generation/bin/pip" install --quiet --disable-pip-version-check -r "requirements-$generation.txt"
        cp "requirements-$generation.txt" "$builds/$generation/.installed"
    fi
done
"$builds/fastmcp/bin/python" fastmcp_bundle.py "$builds/1/bin/python"
python3 tools.py "$builds/03/bin/python" "$builds/1/bin/python" "$builds/fastmcp/bin/python"
exec python3 matrix.py "$builds/03/bin/python" "$builds/1/bin/python"
