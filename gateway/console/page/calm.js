// Rows of a list that is asked for again and again do not move while somebody is at them.
import { useMemo, useRef } from "./dom.js";

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
