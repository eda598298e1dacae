#!/bin/sh
# An MCP server with one tool that costs next to nothing: what bench/run.sh sessions has many of.
while read -r line; do
    id=${line#*'"id":'}
    id=${id%%[!0-9]*}
    case $line in
        *'"initialize"'*)
            echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}}'
            ;;
        *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"one","inputSchema":{}}]}}' ;;
        *'"id"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"no"}}' ;;
    esac
done
