// Two JSON documents side by side, and patches (RFC 6902) in words. Nothing here touches the page.
const isBranch = (value) => value !== null && typeof value === "object";
const escaped = (key) => String(key).replaceAll("~", "~0").replaceAll("/", "~1");

// `[key on the left, key on the right]` of two objects or two lists in the order of both, undefined where one has none. Parts of
// lists belong together by their ids, as `agents/card` explains them, or else by their place.
function paired(left, right) {
  if (!Array.isArray(left)) {
    const others = Object.keys(right).filter((key) => !Object.hasOwn(left, key));
    return [...Object.keys(left).map((key) => [key, Object.hasOwn(right, key) ? key : undefined]), ...others.map((key) => [undefined, key])];
  }
  if (![...left, ...right].every((each) => typeof each?.id === "string")) {
    return Array.from({ length: Math.max(left.length, right.length) }, (_, i) => [i < left.length ? i : undefined, i < right.length ? i : undefined]);
  }
  const places = new Map(right.map(({ id }, i) => [id, i]));
  const pairs = [];
  let next = 0;
  left.forEach(({ id }, i) => {
    const place = places.get(id);
    if (!(place >= next)) return pairs.push([i, undefined]);
    for (; next < place; ++next) pairs.push([undefined, next]);
    pairs.push([i, next++]);
  });
  for (; next < right.length; ++next) pairs.push([undefined, next]);
  return pairs;
}

// A place in a document, printed as `head`, the value and `tail`.
const start = (value) => ({ depth: 0, head: "", value, tail: "", path: "" });
const partsOf = ({ depth, value, path }) => {
  const last = Object.keys(value).at(-1);
  return (key) => ({ depth: depth + 1, head: Array.isArray(value) ? "" : `${JSON.stringify(key)}: `, value: value[key], tail: String(key) === last ? "" : ",",
    path: `${path}/${escaped(key)}` });
};
const bracketsOf = (value) => (Array.isArray(value) ? "[]" : "{}");
const opens = ({ value, depth }) => isBranch(value) && depth < 100 && Object.keys(value).length > 0;
const line = ({ depth }, text, path = null) => ({ text: "  ".repeat(depth) + text, path });

// `{rows, cut}`: rows `{kind, left, right}` with `same`, `changed`, `removed` or `added`, each side null or `{text, path}` of one line
// of the document as it is printed. After `most` rows it ends and `cut` is true. `null` instead of a document: the other one alone.
export function sideBySide(left, right, most = 20000) {
  const rows = [];
  let cut = false;
  const add = (kind, one, other) => {
    cut ||= rows.length >= most;
    if (!cut) rows.push({ kind, left: one, right: other });
  };
  const alone = (isLeft, kind, place) => {
    const { head, value, tail, path } = place;
    const put = (text, of) => add(kind, isLeft ? line(place, text, of) : null, isLeft ? null : line(place, text, of));
    if (!opens(place)) return put(head + JSON.stringify(value) + tail, path);
    const [open, close] = bracketsOf(value);
    const part = partsOf(place);
    put(head + open, path);
    for (const key of Object.keys(value)) if (!cut) alone(isLeft, kind, part(key));
    put(close + tail);
  };
  const both = (a, b) => {
    const [open, close] = bracketsOf(a.value);
    if (opens(a) && opens(b) && open === bracketsOf(b.value)[0]) {
      const parts = [partsOf(a), partsOf(b)];
      add("same", line(a, a.head + open, a.path), line(b, b.head + open, b.path));
      for (const [l, r] of paired(a.value, b.value)) {
        if (cut) return;
        if (l === undefined) alone(false, "added", parts[1](r));
        else if (r === undefined) alone(true, "removed", parts[0](l));
        else both(parts[0](l), parts[1](r));
      }
      return add("same", line(a, close + a.tail), line(b, close + b.tail));
    }
    const texts = [a, b].map(({ value }) => JSON.stringify(value));
    if (texts[0] === texts[1] || !(opens(a) || opens(b))) {
      return add(texts[0] === texts[1] ? "same" : "changed", line(a, a.head + texts[0] + a.tail, a.path), line(b, b.head + texts[1] + b.tail, b.path));
    }
    alone(true, "changed", a);
    alone(false, "changed", b);
  };
  if (left === null || right === null) alone(right === null, "same", start(left ?? right));
  else both(start(left), start(right));
  return { rows, cut };
}

// Rows without long stretches that are the same: `{equal: N}` replaces N of them, and two rows stay beside each difference.
export function folded(rows) {
  const near = new Set(rows.flatMap(({ kind }, i) => (kind === "same" ? [] : [i - 2, i - 1, i, i + 1, i + 2])));
  const shown = [];
  for (let i = 0, end; i < rows.length; i = end + 1) {
    for (end = i; end < rows.length && !near.has(end);) ++end;
    if (end - i > 3) shown.push({ equal: end - i }, ...rows.slice(end, end + 1));
    else shown.push(...rows.slice(i, end + 1));
  }
  return shown;
}

const verbs = { add: "added", remove: "removed", replace: "changed", move: "moved", copy: "copied" };

// The operations of a patch as `{verb, path, from, value}`; those that change nothing are left out. null: it is no patch.
export const readPatch = (patch) => (Array.isArray(patch) ? patch.filter((each) => Object.hasOwn(verbs, each?.op) && typeof each.path === "string")
  .map(({ op, path, from, value }) => ({ verb: verbs[op], path, from, value })) : null);
