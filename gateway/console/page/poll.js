// What the page asks for again and again, and what it does once.
import { useCallback, useEffect, useMemo, useRef, useState } from "./dom.js";

// `{data, failure, again}`: the latest result of `ask(signal)`, asked every `seconds` while the tab is visible, and at once when `keys` change.
// What takes long to answer is asked less often: the page takes a tenth of the gateway's time, and no more.
export function usePoll(ask, seconds, keys) {
  const [state, setState] = useState({ data: null, failure: null });
  const wake = useRef(() => {});
  useEffect(() => {
    const leaving = new AbortController();
    let timer = 0;
    const turn = async () => {
      clearTimeout(timer);
      const begun = performance.now();
      try {
        const data = await ask(leaving.signal);
        if (!leaving.signal.aborted) setState({ data, failure: null });
      } catch (failure) {
        if (!leaving.signal.aborted) setState((before) => ({ data: before.data, failure }));
      }
      clearTimeout(timer); // Of a turn that ran meanwhile.
      if (!leaving.signal.aborted && !document.hidden) timer = setTimeout(turn, Math.max(seconds * 1000, 9 * (performance.now() - begun)));
    };
    const shown = () => document.hidden || turn();
    document.addEventListener("visibilitychange", shown);
    wake.current = turn;
    setState((before) => ({ ...before, failure: null }));
    turn();
    return () => {
      leaving.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", shown);
    };
  }, keys);
  return { ...state, again: useCallback(() => wake.current(), []) };
}

// `[run, {busy, done, failure}]`: `run(...)` does it, once at a time.
export function useAct(action) {
  const [state, setState] = useState({ busy: false, done: null, failure: null });
  const run = async (...given) => {
    if (state.busy) return;
    setState({ busy: true, done: null, failure: null });
    try {
      setState({ busy: false, done: (await action(...given)) ?? true, failure: null });
    } catch (failure) {
      setState({ busy: false, done: null, failure });
    }
  };
  return [run, state];
}

// Those of `items` that were in `order` stay in that order; others follow.
export function keepOrder(items, order) {
  const place = new Map(order.map((id, at) => [id, at]));
  const at = (item) => place.get(item.id) ?? order.length;
  return items.map((item, here) => ({ item, here })).sort((a, b) => at(a.item) - at(b.item) || a.here - b.here).map(({ item }) => item);
}

const patience = 10000; // A pointer that rests for so long is not at work.

// `hold`: handlers of the list. `arrange(items, asked)` keeps their order while the pointer or the focus is in it and `asked` is the same.
export function useCalm() {
  const state = useRef({ moved: -Infinity, focus: false, order: [], asked: "" });
  const hold = useMemo(() => ({
    onPointerMove: () => { state.current.moved = performance.now(); },
    onPointerLeave: () => { state.current.moved = -Infinity; },
    onFocusIn: () => { state.current.focus = true; },
    onFocusOut: () => { state.current.focus = false; },
  }), []);
  const arrange = (items, asked) => {
    const now = state.current;
    const held = now.focus || performance.now() - now.moved < patience;
    const kept = held && now.asked === asked ? keepOrder(items, now.order) : items;
    now.order = kept.map(({ id }) => id);
    now.asked = asked;
    return kept;
  };
  return { hold, arrange };
}
