// What an agent says is text: these make it safe and short to look at.

const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const asEscape = (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;

// Control characters, and those that turn the direction of text, become visible.
export const visible = (text) => String(text ?? "").replace(hidden, asEscape);

// A name: in one line, at most `most` characters.
export function name(text, most = 200) {
  const all = String(text ?? "");
  const head = all.slice(0, most * 2 + 2);
  const points = Array.from(visible(head.replace(/\s+/g, " ")));
  return points.length > most || head.length < all.length ? `${points.slice(0, most - 1).join("")}…` : points.join("");
}

// An http(s) URL as it may be linked; else nothing.
export function link(text) {
  try {
    const url = new URL(text);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : "";
  } catch {
    return "";
  }
}

export const count = (value) => (value == null ? "–" : Number(value).toLocaleString("en-US"));

export function ms(value) {
  if (value == null) return "–";
  if (value < 10) return `${value.toFixed(1)} ms`;
  return value < 10000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`;
}

export function percent(ratio) {
  if (ratio == null) return "–";
  const value = ratio * 100;
  return value === 0 ? "0 %" : value < 10 ? `${value.toFixed(1)} %` : `${Math.round(value)} %`;
}

export function bytes(value) {
  if (value == null) return "–";
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

// The time of day here, of a time in RFC 3339.
export const clock = (time) => new Date(time).toLocaleTimeString("en-GB", { hour12: false });
export const moment = (time) => new Date(time).toLocaleString("en-GB", { hour12: false });

// How long ago, or for how long, in the largest fitting unit.
export function span(seconds) {
  if (seconds < 120) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} d`;
}

// A word as a shell takes it.
export const shellWord = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

// A UUID (RFC 9562, version 4). `crypto.randomUUID` is missing where the page comes over plain http from another machine.
export function newId() {
  const digits = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte, at) =>
    (at === 6 ? (byte & 15) | 64 : at === 8 ? (byte & 63) | 128 : byte).toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
