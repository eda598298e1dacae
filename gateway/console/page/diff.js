// Two JSON documents side by side, and patches (RFC 6902) in words. Nothing here touches the page.

const isBranch = (value) => value !== null && typeof value === "object";
const isOpen = (left, right) => isBranch(left) && isBranch(right) && Array.isArray(left) === Array.isArray(right);
const escaped = (key) => String(key).replaceAll("~", "~0").replaceAll("/", "~1");

// The members of a pointer (RFC 6901), outermost first; null: it is not one.
export function members(pointer) {
  if (typeof pointer !== "string" || (pointer !== "" && !pointer.startsWith("/"))) return null;
  return pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

// The value at a pointer; undefined: there is none.
export function at(document, pointer) {
  let value = document;
  for (const member of members(pointer) ?? []) {
    if (!isBranch(value) || !Object.hasOwn(value, member)) return undefined;
    value = value[member];
  }
  return value;
}

// Elements of lists are the same if they have the same name for themselves, however else they differ.
function identity(value) {
  if (!isBranch(value)) return JSON.stringify(value);
  for (const key of ["id", "name", "uri", "kid"]) {
    if (typeof value[key] === "string") return `${key}=${value[key]}`;
  }
  return typeof value.url === "string" && typeof (value.protocolBinding ?? value.transport) === "string"
    ? `${value.protocolBinding ?? value.transport} ${value.protocolVersion ?? ""}`
    : JSON.stringify(value);
}

// Pairs of positions in two lists of texts in the order of both; -1 where one has nothing.
// Texts that are on both sides are paired while their order is kept, and what lies between two pairs is paired by position.
function aligned(left, right) {
  const places = new Map();
  right.forEach((text, i) => places.has(text) ? places.get(text).push(i) : places.set(text, [i]));
  places.forEach((list) => list.reverse());
  const pairs = [];
  let begin = 0;
  let next = 0;
  const fill = (leftEnd, rightEnd) => {
    const known = new Set(right.slice(next, rightEnd));
    const apart = left.slice(begin, leftEnd).some((text) => known.has(text));
    for (; !apart && begin < leftEnd && next < rightEnd; ++begin, ++next) pairs.push([begin, next]);
    for (; begin < leftEnd; ++begin) pairs.push([begin, -1]);
    for (; next < rightEnd; ++next) pairs.push([-1, next]);
  };
  left.forEach((text, i) => {
    const found = places.get(text);
    while (found?.length && found.at(-1) < next) found.pop();
    if (!found?.length) return;
    const place = found.pop();
    fill(i, place);
    pairs.push([i, place]);
    begin = i + 1;
    next = place + 1;
  });
  fill(left.length, right.length);
  return pairs;
}

// `[key on the left or undefined, key on the right or undefined]` of two objects or two lists.
function paired(left, right) {
  if (Array.isArray(left)) {
    return aligned(left.map(identity), right.map(identity)).map(([l, r]) => [l < 0 ? undefined : l, r < 0 ? undefined : r]);
  }
  const keys = Object.keys(left);
  const pairs = [];
  const others = Object.keys(right).filter((key) => !Object.hasOwn(left, key));
  for (const key of keys) pairs.push([key, Object.hasOwn(right, key) ? key : undefined]);
  return pairs.concat(others.map((key) => [undefined, key]));
}

const deepest = 100;  // below, a value is one line
const line = (depth, text, path = null) => ({ text: "  ".repeat(depth) + text, path });
const isEmpty = (value) => Object.keys(value).length === 0;

// The place `key` of another one; `last` is the key after which no comma comes.
const inner = ({ depth, value, path }, key, last) => ({
  depth: depth + 1,
  head: Array.isArray(value) ? "" : `${JSON.stringify(key)}: `,
  value: value[key],
  tail: String(key) === last ? "" : ",",
  path: `${path}/${escaped(key)}`,
});

class Rows {
  list = [];
  cut = false;

  constructor(most) {
    this.most = most;
  }

  get full() {
    this.cut ||= this.list.length >= this.most;
    return this.cut;
  }

  add(kind, left, right) {
    if (!this.full) this.list.push({ kind, left, right });
  }

  // All lines of a place that is on one side alone.
  alone(side, kind, { depth, head, value, tail, path }) {
    if (this.full) return;
    const put = (text, of) => this.add(kind, side === "left" ? line(depth, text, of) : null, side === "right" ? line(depth, text, of) : null);
    if (!isBranch(value) || isEmpty(value) || depth > deepest) return put(head + JSON.stringify(value) + tail, path);
    const [open, close] = Array.isArray(value) ? "[]" : "{}";
    put(head + open, path);
    const keys = Object.keys(value);
    for (const key of keys) {
      if (this.full) return;
      this.alone(side, kind, inner({ depth, value, path }, key, keys.at(-1)));
    }
    put(close + tail);
  }

  // Both sides of one place: `{depth, head, value, tail, path}` each.
  both(left, right) {
    if (this.full) return;
    const row = (kind, ...texts) => this.add(kind, line(left.depth, texts[0], left.path), line(right.depth, texts[1], right.path));
    if (isOpen(left.value, right.value) && left.depth <= deepest && !(isEmpty(left.value) && isEmpty(right.value))) {
      const [open, close] = Array.isArray(left.value) ? "[]" : "{}";
      row("same", left.head + open, right.head + open);
      this.inside(left, right);
      this.add("same", line(left.depth, close + left.tail), line(right.depth, close + right.tail));
      return;
    }
    const texts = [left, right].map(({ value }) => JSON.stringify(value));
    if (texts[0] === texts[1]) return row("same", left.head + texts[0] + left.tail, right.head + texts[1] + right.tail);
    if (!isBranch(left.value) && !isBranch(right.value)) {
      return row("changed", left.head + texts[0] + left.tail, right.head + texts[1] + right.tail);
    }
    this.alone("left", "changed", left);
    this.alone("right", "changed", right);
  }

  inside(left, right) {
    const ends = [left, right].map(({ value }) => Object.keys(value).at(-1));
    for (const [l, r] of paired(left.value, right.value)) {
      if (this.full) return;
      if (l === undefined) this.alone("right", "added", inner(right, r, ends[1]));
      else if (r === undefined) this.alone("left", "removed", inner(left, l, ends[0]));
      else this.both(inner(left, l, ends[0]), inner(right, r, ends[1]));
    }
  }
}

const start = (value) => ({ depth: 0, head: "", value, tail: "", path: "" });

// `{rows, cut}`: rows `{kind, left, right}` with `same`, `changed`, `removed` or `added`, each side null or `{text, path}` of one line
// of the document as it is printed. After `most` rows it ends and `cut` is true. `null` instead of a document: the other one alone.
export function sideBySide(left, right, most = 20000) {
  const rows = new Rows(most);
  if (left === null || right === null) {
    rows.alone(left === null ? "right" : "left", "same", start(left ?? right));
  } else {
    rows.both(start(left), start(right));
  }
  return { rows: rows.list, cut: rows.cut };
}

// Rows without long stretches that are the same: `{equal: N}` replaces N of them, and `around` rows stay beside each difference.
export function folded(rows, around = 2) {
  const near = new Set();
  rows.forEach(({ kind }, i) => {
    if (kind === "same") return;
    for (let j = Math.max(0, i - around); j <= i + around && j < rows.length; ++j) near.add(j);
  });
  const shown = [];
  for (let i = 0; i < rows.length;) {
    let end = i;
    while (end < rows.length && !near.has(end)) ++end;
    if (end - i > 3) shown.push({ equal: end - i });
    else shown.push(...rows.slice(i, end));
    if (end < rows.length) shown.push(rows[end]);
    i = end + 1;
  }
  return shown;
}

const verbs = { add: "added", remove: "removed", replace: "changed", move: "moved", copy: "copied", test: "tested" };

// The operations of a patch as `{op, path, verb, from, value}`; those that are not operations are left out. null: no patch at all.
export function readPatch(patch) {
  if (!Array.isArray(patch)) return null;
  return patch
    .filter((each) => isBranch(each) && Object.hasOwn(verbs, each.op) && members(each.path) !== null)
    .map(({ op, path, from, value }) => ({ op, path, verb: verbs[op], from: members(from) === null ? undefined : from, value }));
}
