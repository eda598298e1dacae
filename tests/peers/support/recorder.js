// A fetch for the SDKs' clients that stays inside one address and writes down what it exchanged.

const headersCompared = ['content-type', 'a2a-extensions', 'x-a2a-extensions'];

export class Recorder {
    #exchanges = [];

    // base: every address the client contacts must start with it.
    constructor(base) {
        this.base = base;
        this.fetch = async (input, init) => {
            const url = String(input?.url ?? input);
            if (!url.startsWith(base)) {
                throw new Error(`the client was sent to ${url}, which is not below ${base}`);
            }
            const response = await fetch(input, init);
            this.#exchanges.push({
                call: init?.body ? JSON.parse(init.body).method : (init?.method ?? 'GET'),
                status: response.status,
                headers: Object.fromEntries(headersCompared.map((name) => [name, response.headers.get(name)])),
                body: response
                    .clone()
                    .text()
                    .catch((error) => error.name),
            });
            return response;
        };
    }

    // All JSON-RPC exchanges so far, bodies read to their end.
    async rpc() {
        const calls = this.#exchanges.filter(({ call }) => call !== 'GET');
        return Promise.all(calls.map(async (exchange) => ({ ...exchange, body: await exchange.body })));
    }
}

// The same value with ids and times replaced by their order of appearance, so that two runs can be compared.
export function withoutIdsAndTimes(value) {
    const ids = new Map();
    const text = JSON.stringify(value)
        .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
            if (!ids.has(id)) {
                ids.set(id, `<id ${ids.size + 1}>`);
            }
            return ids.get(id);
        })
        .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, '<time>');
    return JSON.parse(text);
}
