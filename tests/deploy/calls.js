// calls.js URL RATE SECONDS: so many calls a second to an A2A 0.3 agent, each on a connection of its own, whatever became of those
// before. Prints how many there were, what became of those that did not end with a result, and the slowest. Exit code 1 if one
// did not, or if the machine was too slow for nine tenths of the rate.
'use strict';
const http = require('http');

const [url, rate, seconds] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const message = { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'to be' }] };
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } });
const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
const lost = new Map();
let sent = 0;
let ended = 0;
let slowest = 0;

function end(began, outcome) {
    ended += 1;
    slowest = Math.max(slowest, Date.now() - began);
    if (outcome !== 'result') {
        lost.set(outcome, (lost.get(outcome) ?? 0) + 1);
    }
}

function call() {
    const began = Date.now();
    sent += 1;
    const request = http.request(url, { method: 'POST', headers, agent: false, timeout: 30000 }, (answer) => {
        let text = '';
        answer.on('data', (part) => { text += part; });
        answer.on('end', () => end(began, answer.statusCode === 200 && text.includes('"result"') ? 'result' : `${answer.statusCode} ${text}`));
        answer.on('error', (error) => end(began, `answer: ${error.code}`));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', (error) => end(began, `request: ${error.code}`));
    request.end(body);
}

const began = Date.now();
const timer = setInterval(() => {
    const elapsed = Date.now() - began;
    for (const due = Math.min(elapsed, seconds * 1000) * rate / 1000; sent < due;) {
        call();
    }
    if (elapsed < seconds * 1000 || (ended < sent && elapsed < (seconds + 40) * 1000)) {
        return;
    }
    clearInterval(timer);
    const failed = [...lost.values()].reduce((sum, count) => sum + count, sent - ended);
    console.log(`calls: ${sent} in ${seconds} s, ${failed} lost, the slowest took ${slowest} ms`);
    lost.forEach((count, outcome) => console.log(`lost: ${count} times ${outcome}`));
    process.exit(failed === 0 && sent >= rate * seconds * 0.9 ? 0 : 1);
}, 5);
