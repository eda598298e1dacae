// The address behind `#`: `#/agents/ID/try?key=value`.
import { useEffect, useState } from "./dom.js";

export function read(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { parts, query: new URLSearchParams(query) };
}

// `values`: those that are empty are left out.
export function to(parts, values = {}) {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value));
  return `#/${parts.map(encodeURIComponent).join("/")}${query.size ? `?${query}` : ""}`;
}

export function useRoute() {
  const [route, setRoute] = useState(read());
  useEffect(() => {
    const changed = () => setRoute(read());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

// Changes the query of the page that is shown, without a new entry in the history.
export function setQuery(parts, values) {
  history.replaceState(null, "", to(parts, values));
  dispatchEvent(new HashChangeEvent("hashchange"));
}
