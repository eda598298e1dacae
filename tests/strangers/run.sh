#!/usr/bin/env bash
# run.sh downgrade [HEADS [SEED]]: heads of HTTP/2 that try to become two requests, in front of agents of HTTP/1.1. run.sh programs ENVOY:
# programs of others through the gateway. CARDEA_BIN names the gateway. Packages are installed once, into build/strangers; the tests
# themselves use loopback only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
builds=$(realpath -m ../../build/strangers)
what=$1
shift

if ! cmp -s requirements.txt "$builds/python/.installed"; then
    rm -rf "${builds:?}/python"
    python3 -m venv "$builds/python"
    "$builds/python/bin/pip" install --quiet --disable-pip-version-check -r requirements.txt
    cp requirements.txt "$builds/python/.installed"
fi
if [ "$what" = downgrade ]; then
    exec python3 downgrade.py "$builds/python/bin/python" "$@"
fi

# install PROGRAM PACKAGE VERSION
install() {
    if [ ! -e "$builds/go/.$1-$3" ]; then
        GOBIN=$builds/go/new go install "$2@$3"
        mv "$builds/go/new/${2##*/}" "$builds/go/$1"
        touch "$builds/go/.$1-$3"
    fi
}
mkdir -p "$builds/go"
install interop_client google.golang.org/grpc/interop/client v1.85.0
install interop_server google.golang.org/grpc/interop/server v1.85.0
install grpcurl github.com/fullstorydev/grpcurl/cmd/grpcurl v1.9.3
exec python3 strangers.py "$builds/go" "$builds/python/bin/python" "$@"
