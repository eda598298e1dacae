// Two JSON documents side by side, and patches (RFC 6902) in words. Nothing here touches the page.

const deepest = 100;  // below, a value is one line
const isBranch = (value) => value !== null && typeof value === "object";
const isEmpty = (value) => Object.keys(value).length === 0;
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
  const key = isBranch(value) && ["id", "name", "uri", "kid"].find((each) => typeof value[each] === "string");
  if (key) return `${key}=${value[key]}`;
  const binding = value?.protocolBinding ?? value?.transport;
  return typeof binding === "string" ? `${binding} ${value.protocolVersion ?? ""}` : JSON.stringify(value);
}

// Pairs of places in two lists of texts in the order of both, undefined where one has nothing. Equal texts are paired while
// their order is kept, and what lies between two pairs is paired by place if nothing of it is equal.
function aligned(left, right) {
  const places = new Map();
  right.forEach((text, i) => (places.has(text) ? places.get(text).push(i) : places.set(text, [i])));
  places.forEach((list) => list.reverse());
  const pairs = [];
  let begin = 0;
  let next = 0;
  const fill = (leftEnd, rightEnd) => {
    const known = new Set(right.slice(next, rightEnd));
    const apart = left.slice(begin, leftEnd).some((text) => known.has(text));
    for (; !apart && begin < leftEnd && next < rightEnd; ++begin, ++next) pairs.push([begin, next]);
    for (; begin < leftEnd; ++begin) pairs.push([begin, undefined]);
    for (; next < rightEnd; ++next) pairs.push([undefined, next]);
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

// `[key on the left, key on the right]` of two objects or two lists, undefined where one has none.
function paired(left, right) {
  if (Array.isArray(left)) return aligned(left.map(identity), right.map(identity));
  const own = (of, key) => (Object.hasOwn(of, key) ? key : undefined);
  return [...Object.keys(left).map((key) => [key, own(right, key)]),
    ...Object.keys(right).filter((key) => !Object.hasOwn(left, key)).map((key) => [undefined, key])];
}

// A place in a document: what is printed before and after its value. `last` is the key after which no comma comes.
const start = (value) => ({ depth: 0, head: "", value, tail: "", path: "" });
const inner = ({ depth, value, path }, key, last) => ({
  depth: depth + 1,
  head: Array.isArray(value) ? "" : `${JSON.stringify(key)}: `,
  value: value[key],
  tail: String(key) === last ? "" : ",",
  path: `${path}/${escaped(key)}`,
});
const lastOf = ({ value }) => Object.keys(value).at(-1);
const bracketsOf = (value) => (Array.isArray(value) ? "[]" : "{}");
const line = ({ depth, path }, text, isEnd = false) => ({ text: "  ".repeat(depth) + text, path: isEnd ? null : path });

// `{rows, cut}`: rows `{kind, left, right}` with `same`, `changed`, `removed` or `added`, each side null or `{text, path}` of one line
// of the document as it is printed. After `most` rows it ends and `cut` is true. `null` instead of a document: the other one alone.
export function sideBySide(left, right, most = 20000) {
  const rows = [];
  let cut = false;
  const add = (kind, one, other) => {
    cut ||= rows.length >= most;
    if (!cut) rows.push({ kind, left: one, right: other });
  };
  const alone = (side, kind, place) => {
    const { depth, head, value, tail } = place;
    const put = (text, isEnd) => add(kind, side === "left" ? line(place, text, isEnd) : null, side === "right" ? line(place, text, isEnd) : null);
    if (!isBranch(value) || isEmpty(value) || depth > deepest) return put(head + JSON.stringify(value) + tail);
    const [open, close] = bracketsOf(value);
    put(head + open);
    const last = lastOf(place);
    for (const key of Object.keys(value)) {
      if (cut) return;
      alone(side, kind, inner(place, key, last));
    }
    put(close + tail, true);
  };
  const both = (a, b) => {
    const isOpen = isBranch(a.value) && isBranch(b.value) && bracketsOf(a.value) === bracketsOf(b.value) && a.depth <= deepest;
    if (!isOpen || (isEmpty(a.value) && isEmpty(b.value))) {
      const texts = [a, b].map(({ value }) => JSON.stringify(value));
      const same = texts[0] === texts[1];
      if (same || !(isBranch(a.value) || isBranch(b.value))) {
        return add(same ? "same" : "changed", line(a, a.head + texts[0] + a.tail), line(b, b.head + texts[1] + b.tail));
      }
      alone("left", "changed", a);
      return alone("right", "changed", b);
    }
    const [open, close] = bracketsOf(a.value);
    const ends = [lastOf(a), lastOf(b)];
    add("same", line(a, a.head + open), line(b, b.head + open));
    for (const [l, r] of paired(a.value, b.value)) {
      if (cut) return;
      if (l === undefined) alone("right", "added", inner(b, r, ends[1]));
      else if (r === undefined) alone("left", "removed", inner(a, l, ends[0]));
      else both(inner(a, l, ends[0]), inner(b, r, ends[1]));
    }
    add("same", line(a, close + a.tail, true), line(b, close + b.tail, true));
  };
  if (left === null || right === null) alone(left === null ? "right" : "left", "same", start(left ?? right));
  else both(start(left), start(right));
  return { rows, cut };
}

// Rows without long stretches that are the same: `{equal: N}` replaces N of them, and `around` rows stay beside each difference.
export function folded(rows, around = 2) {
  const near = new Set();
  rows.forEach(({ kind }, i) => {
    for (let j = Math.max(0, i - around); kind !== "same" && j <= i + around && j < rows.length; ++j) near.add(j);
  });
  const shown = [];
  for (let i = 0, end; i < rows.length; i = end + 1) {
    for (end = i; end < rows.length && !near.has(end);) ++end;
    if (end - i > 3) shown.push({ equal: end - i });
    else shown.push(...rows.slice(i, end));
    if (end < rows.length) shown.push(rows[end]);
  }
  return shown;
}

const verbs = { add: "added", remove: "removed", replace: "changed", move: "moved", copy: "copied", test: "tested" };

// The operations of a patch as `{op, path, verb, from, value}`; those that are not operations are left out. null: no patch at all.
export function readPatch(patch) {
  if (!Array.isArray(patch)) return null;
  return patch.filter((each) => isBranch(each) && Object.hasOwn(verbs, each.op) && members(each.path) !== null)
    .map(({ op, path, from, value }) => ({ op, path, verb: verbs[op], from: members(from) === null ? undefined : from, value }));
}
