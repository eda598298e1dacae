// A call of a management method, as an operator makes it: its result, which is not an error.
import assert from 'node:assert/strict';

export async function manage(gateway, method, params) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const answer = await fetch(`${gateway.admin}rpc`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    const { result, error } = await answer.json();
    assert.equal(error, undefined, JSON.stringify(error));
    return result;
}
