// Traces through the gateway with the parts of OpenTelemetry: a caller and an agent that use its SDK, and a collector that reads
// what the gateway sends by the project's own protobuf definitions.
import assert from 'node:assert/strict';
import http from 'node:http';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';

import { defaultTextMapGetter, defaultTextMapSetter, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';

import { listen, startConfiguredGateway } from './support/programs.js';

const proto = createRequire(import.meta.url)('@opentelemetry/otlp-transformer/build/src/generated/root').opentelemetry.proto;
const ExportRequest = proto.collector.trace.v1.ExportTraceServiceRequest;

const patience = { timeout: 60_000 };
const propagator = new W3CTraceContextPropagator();
const memory = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(memory)] });
const tracer = provider.getTracer('peers');

const collected = [];
const seen = []; // what the agent's propagator made of each request
let collector;
let agent;
let gateway;

async function bodyOf(request) {
    const parts = [];
    for await (const part of request) {
        parts.push(part);
    }
    return Buffer.concat(parts).toString();
}

// In the JSON of OTLP ids are hex; everywhere else in the JSON of protobuf bytes are base64.
function withBytes(value, key) {
    if (Array.isArray(value)) {
        return value.map((each) => withBytes(each));
    }
    if (value !== null && typeof value === 'object') {
        return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withBytes(each, name)]));
    }
    return ['traceId', 'spanId', 'parentSpanId'].includes(key) ? Buffer.from(value, 'hex') : value;
}

function withHex(value, key) {
    if (value instanceof Uint8Array) {
        return Buffer.from(value).toString('hex');
    }
    if (Array.isArray(value)) {
        return value.map((each) => withHex(each));
    }
    if (value !== null && typeof value === 'object') {
        return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withHex(each, name)]));
    }
    return value;
}

// The spans of a request, which has to be one by the definitions: no member of another name or type, and none that is lost on
// the wire of protobuf.
function read(text) {
    const sent = JSON.parse(text);
    const bytes = ExportRequest.encode(ExportRequest.fromObject(withBytes(sent))).finish();
    const again = ExportRequest.toObject(ExportRequest.decode(bytes), { longs: String });
    assert.deepEqual(withHex(again), sent);
    return sent.resourceSpans.flatMap((each) => each.scopeSpans).flatMap((each) => each.spans);
}

function attribute(span, key) {
    const value = span.attributes.find((each) => each.key === key)?.value;
    return value?.stringValue ?? value?.intValue;
}

// Calls the agent within a span of the caller's.
async function call(target = 'agents/a') {
    const span = tracer.startSpan('call', { kind: SpanKind.CLIENT });
    const headers = { 'Content-Type': 'application/json' };
    propagator.inject(trace.setSpan(ROOT_CONTEXT, span), headers, defaultTextMapSetter);
    const answer = await fetch(`${gateway.base}${target}`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: {} }),
    });
    await answer.text();
    span.end();
    return span.spanContext();
}

before(async () => {
    collector = await listen(
        http.createServer(async (request, response) => {
            collected.push({ url: request.url, type: request.headers['content-type'], body: await bodyOf(request) });
            response.setHeader('Content-Type', 'application/json').end('{}');
        })
    );
    agent = await listen(
        http.createServer(async (request, response) => {
            if (request.method === 'POST') {
                seen.push(trace.getSpanContext(propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter)));
            }
            await bodyOf(request);
            response.statusCode = request.method === 'POST' ? 200 : 404;
            response.setHeader('Content-Type', 'application/json').end('{"jsonrpc":"2.0","id":1,"result":{}}');
        })
    );
    gateway = await startConfiguredGateway({
        trace: { endpoint: collector.url, sample: 0 },
        agents: { a: { url: agent.url } },
    });
}, patience);

after(async () => {
    await gateway?.kill();
    await collector?.stop();
    await agent?.stop();
});

describe('a trace of OpenTelemetry', patience, () => {
    test('goes from caller to agent through spans of the gateway, which a collector reads', async () => {
        const caller = await call();
        await call('agents/nobody');
        await gateway.stop(); // sends what is left

        assert.equal(seen.length, 1);
        assert.equal(seen[0].traceId, caller.traceId);
        assert.equal(seen[0].traceFlags, 1);

        assert.ok(collected.every((each) => each.url === '/v1/traces' && each.type === 'application/json'));
        const spans = collected.flatMap((each) => read(each.body));
        assert.equal(spans.length, 3);
        const attempt = spans.find((each) => each.kind === proto.trace.v1.Span.SpanKind.SPAN_KIND_CLIENT);
        const request = spans.find((each) => each.spanId === attempt.parentSpanId);
        assert.equal(attempt.spanId, seen[0].spanId);
        assert.equal(request.parentSpanId, caller.spanId);
        assert.equal(request.traceId, caller.traceId);
        assert.equal(attribute(request, 'http.response.status_code'), '200');
        assert.equal(attribute(request, 'cardea.agent'), 'a');
        const refused = spans.find((each) => attribute(each, 'error.type') === 'agent_not_found');
        assert.equal(refused.kind, proto.trace.v1.Span.SpanKind.SPAN_KIND_SERVER);
    });

    test("looks like those of the SDK's own exporter", () => {
        const ours = read(collected[0].body)[0];
        const own = JSON.parse(Buffer.from(JsonTraceSerializer.serializeRequest(memory.getFinishedSpans())).toString());
        const theirs = own.resourceSpans[0].scopeSpans[0].spans[0];
        for (const key of ['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'attributes']) {
            assert.equal(typeof ours[key], typeof theirs[key], key);
        }
        for (const key of ['traceId', 'spanId']) {
            assert.equal(ours[key].length, theirs[key].length);
        }
        assert.match(ours.startTimeUnixNano, /^[0-9]{19}$/);
        assert.match(theirs.startTimeUnixNano, /^[0-9]{19}$/);
    });
});
