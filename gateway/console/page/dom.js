// The library of the page, by one name each.
import { Component, h, render } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export { render };
export { useCallback, useEffect, useMemo, useRef, useState } from "./vendor/hooks.js";
export const html = htm.bind(h);

// The component `draw`, which is drawn again only if a property differs. Nodes must not be kept in useMemo instead: a node
// holds the tree of its time, and through it all trees before.
export const still = (draw) => class extends Component {
  shouldComponentUpdate(next) {
    return Object.keys(next).some((key) => next[key] !== this.props[key]);
  }

  render(props) {
    return draw(props);
  }
};
