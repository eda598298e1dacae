// Reads an event stream (WHATWG HTML, "Server-sent events") from pieces of text that may end anywhere.

export class EventReader {
  #rest = "";
  #event = { event: "", data: [], id: undefined };
  #afterCr = false;
  lastId = "";

  // The events that are whole with this piece: `{event, data, id}`. A comment gives nothing.
  feed(piece) {
    const found = [];
    let text = this.#rest + (this.#afterCr && piece.startsWith("\n") ? piece.slice(1) : piece);
    if (piece) this.#afterCr = piece.endsWith("\r");
    for (;;) {
      const at = text.search(/[\r\n]/);
      if (at < 0) break;
      const line = text.slice(0, at);
      const pair = text.startsWith("\r\n", at);
      text = text.slice(at + (pair ? 2 : 1));
      this.#line(line, found);
    }
    this.#rest = text;
    return found;
  }

  #line(line, found) {
    if (line === "") {
      if (this.#event.id !== undefined) this.lastId = this.#event.id;
      if (this.#event.data.length) {
        found.push({ event: this.#event.event || "message", data: this.#event.data.join("\n"), id: this.lastId });
      }
      this.#event = { event: "", data: [], id: undefined };
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (name === "event") this.#event.event = value;
    else if (name === "data") this.#event.data.push(value);
    else if (name === "id" && !value.includes("\0")) this.#event.id = value;
  }
}

// Calls `take` with each event of a Response until it ends, and `heard` with each piece of it, also with comments.
export async function readEvents(response, take, heard = () => {}) {
  const reader = new EventReader();
  const decoder = new TextDecoder();
  const pieces = response.body.getReader();
  for (;;) {
    const { done, value } = await pieces.read();
    heard();
    for (const event of reader.feed(done ? decoder.decode() : decoder.decode(value, { stream: true }))) take(event);
    if (done) return;
  }
}
