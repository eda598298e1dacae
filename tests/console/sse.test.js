import assert from "node:assert/strict";
import { test } from "node:test";
import { EventReader, readEvents } from "../../gateway/console/page/sse.js";

const stream = [
  ": a comment\n",
  "id: 7\nevent: request\ndata: {\"a\":1}\n\n",
  "data: first\r\ndata:second\r\ndata\r\n\r\n",
  "event:lost\rdata: {\"lines\": 3}\r\r",
  "id\ndata: no id any more: 😀\n\n",
  "retry: 10\nunknown: x\nevent: nothing\n\n",
  "id: with\0zero\ndata: the id stays empty\n\n",
  "data:  two spaces\n\n",
  "data: unfinished\n",
].join("");

const expected = [
  { event: "request", data: "{\"a\":1}", id: "7" },
  { event: "message", data: "first\nsecond\n", id: "7" },
  { event: "lost", data: "{\"lines\": 3}", id: "7" },
  { event: "message", data: "no id any more: 😀", id: "" },
  { event: "message", data: "the id stays empty", id: "" },
  { event: "message", data: " two spaces", id: "" },
];

const fed = (pieces) => {
  const reader = new EventReader();
  return pieces.flatMap((piece) => reader.feed(piece));
};

test("A stream has the same events in one piece and in single characters", () => {
  assert.deepEqual(fed([stream]), expected);
  assert.deepEqual(fed(stream.split("")), expected);
});

test("A stream has the same events at every pair of splits", () => {
  for (let first = 0; first <= stream.length; ++first) {
    for (let second = first; second <= stream.length; ++second) {
      assert.deepEqual(fed([stream.slice(0, first), stream.slice(first, second), stream.slice(second)]), expected, `${first}, ${second}`);
    }
  }
});

const responseOf = (pieces) => new Response(new ReadableStream({
  start(controller) {
    pieces.forEach((piece) => controller.enqueue(piece));
    controller.close();
  },
}));

test("A character that is split between two pieces is whole", async () => {
  const bytes = new TextEncoder().encode("data: 日😀\n\n");
  for (let at = 0; at <= bytes.length; ++at) {
    const found = [];
    await readEvents(responseOf([bytes.slice(0, at), bytes.slice(at)]), (event) => found.push(event.data));
    assert.deepEqual(found, ["日😀"], String(at));
  }
});

test("A byte order mark at the beginning is not text", async () => {
  const found = [];
  await readEvents(responseOf([new TextEncoder().encode("\ufeffdata: x\n\n")]), (event) => found.push(event.data));
  assert.deepEqual(found, ["x"]);
});

test("A comment is heard but is no event", async () => {
  let heard = 0;
  const found = [];
  await readEvents(responseOf([new TextEncoder().encode(":\n\n")]), (event) => found.push(event), () => ++heard);
  assert.deepEqual(found, []);
  assert.ok(heard >= 1);
});

test("A stream that breaks off gives what was whole, then fails", async () => {
  const found = [];
  const broken = new Response(new ReadableStream({
    pull(controller) {
      if (this.sent) controller.error(new Error("reset"));
      else controller.enqueue(new TextEncoder().encode("data: 1\n\ndata: 2\n"));
      this.sent = true;
    },
  }));
  await assert.rejects(readEvents(broken, (event) => found.push(event.data)), /reset/);
  assert.deepEqual(found, ["1"]);
});
