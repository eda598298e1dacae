// What the page asks for again and again, and what it does once.
import { useCallback, useEffect, useRef, useState } from "./dom.js";

// `{data, failure, again}`: the latest result of `ask(signal)`, asked every `seconds` while the tab is visible, and at once when `keys` change.
export function usePoll(ask, seconds, keys) {
  const [state, setState] = useState({ data: null, failure: null });
  const wake = useRef(() => {});
  useEffect(() => {
    const leaving = new AbortController();
    let timer = 0;
    const turn = async () => {
      clearTimeout(timer);
      try {
        const data = await ask(leaving.signal);
        if (!leaving.signal.aborted) setState({ data, failure: null });
      } catch (failure) {
        if (!leaving.signal.aborted) setState((before) => ({ data: before.data, failure }));
      }
      if (!leaving.signal.aborted && !document.hidden) timer = setTimeout(turn, seconds * 1000);
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
