// The log of the gateway, live: GET /events, opened again where it broke off.
import { useEffect, useRef, useState } from "./dom.js";
import { failureOf, send } from "./api.js";
import { readEvents } from "./sse.js";

const pause = (time, signal) => new Promise((done) => {
  const timer = setTimeout(done, time);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    done();
  }, { once: true });
});

const retryTimes = [500, 1000, 2000, 4000];
const silence = 40000; // The gateway says something every 15 s.

// Calls `take` with each event that matches `filters` (`agent`, `event`, `route`, `status`, `level`, `last`) until `signal`
// aborts, and `tell` with `{state, since, failure}`: `connecting`, `live`, `away` (it tries again), `refused` (it does not).
export async function follow(filters, take, tell, signal) {
  let lastId = "";
  let away = null;
  for (let failed = 0; !signal.aborted;) {
    const turn = new AbortController();
    const leave = () => turn.abort();
    signal.addEventListener("abort", leave);
    let watch = 0;
    const heard = () => {
      clearTimeout(watch);
      watch = setTimeout(leave, silence);
    };
    let failure = null;
    try {
      heard();
      const asked = Object.entries(filters).filter(([, value]) => value);
      const headers = lastId ? { "Last-Event-ID": lastId } : {};
      const response = await send(`events?${new URLSearchParams(asked)}`, { headers, signal: turn.signal });
      if (!response.ok) throw await failureOf(response);
      failed = 0;
      away = null;
      tell({ state: "live", since: new Date(), failure: null });
      await readEvents(response, (event) => {
        lastId = event.id || lastId;
        take(event);
      }, heard);
    } catch (error) {
      failure = error;
    }
    clearTimeout(watch);
    signal.removeEventListener("abort", leave);
    if (signal.aborted) return;
    if (["invalid_params", "not_found"].includes(failure?.code) || ["unauthenticated", "forbidden"].includes(failure?.kind)) {
      tell({ state: "refused", since: new Date(), failure });
      return;
    }
    away ??= new Date();
    tell({ state: "away", since: away, failure: failure?.kind === "refused" ? failure : null });
    await pause(retryTimes[Math.min(failed++, retryTimes.length - 1)], signal);
  }
}

const read = (event, key) => {
  if (event.event === "lost") return { key, lost: Number(JSON.parse(event.data).lines) || 0 };
  try {
    return { key, line: JSON.parse(event.data) };
  } catch {
    return { key, line: { event: event.event, text: event.data } };
  }
};

const empty = { lines: [], lost: 0, waiting: 0 };

// `{lines, lost, waiting, paused, pause(on), state, since, failure}`: the newest `most` lines of the log, newest first, each
// `{key, line}` or, where some are missing, `{key, lost}`. While it is paused, lines wait. Shown at most four times a second.
export function useEvents(filters, { most = 1000 } = {}) {
  const [view, setView] = useState(empty);
  const [connection, setConnection] = useState({ state: "connecting", since: new Date(), failure: null });
  const [paused, setPaused] = useState(false);
  const held = useRef(false);
  const show = useRef(() => {});
  useEffect(() => {
    const leaving = new AbortController();
    let fresh = [];
    let lost = 0;
    let waiting = 0;
    let next = 0;
    let timer = 0;
    let shown = 0;
    show.current = () => {
      clearTimeout(timer);
      timer = 0;
      shown = performance.now();
      if (held.current) {
        const now = waiting;
        setView((before) => ({ ...before, waiting: now }));
        return;
      }
      const added = fresh.reverse();
      const missing = lost;
      fresh = [];
      waiting = 0;
      setView((before) => ({ lines: added.concat(before.lines).slice(0, most), lost: missing, waiting: 0 }));
    };
    const take = (event) => {
      const each = read(event, ++next);
      lost += each.lost ?? 0;
      ++waiting;
      if (fresh.push(each) > most * 1.25) fresh.splice(0, fresh.length - most);
      if (!timer) timer = setTimeout(show.current, Math.max(0, 250 - (performance.now() - shown)));
    };
    held.current = false;
    setPaused(false);
    setView(empty);
    follow(filters, take, setConnection, leaving.signal);
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [JSON.stringify(filters), most]);
  const pauseNow = (on) => {
    held.current = on;
    setPaused(on);
    show.current();
  };
  return { ...view, ...connection, paused, pause: pauseNow };
}
