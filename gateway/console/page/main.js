// The frame of the page: navigation, keys, theme, the token, and the words when the gateway is away.
import { html, render, useEffect, useRef, useState } from "./dom.js";
import { isToken, onState, rpc, setToken, token } from "./api.js";
import { Agent } from "./agent.js";
import { Calls } from "./calls.js";
import { Gateway } from "./gateway.js";
import { Overview } from "./overview.js";
import { Try } from "./try.js";
import { to, useRoute } from "./route.js";
import { clock, name } from "./text.js";
import { Dialog } from "./widgets.js";

const pages = [
  { key: "o", name: "Overview", parts: [], here: (parts) => parts.length === 0 || parts[0] === "agents" },
  { key: "c", name: "Calls", parts: ["calls"], here: (parts) => parts[0] === "calls" },
  { key: "g", name: "Gateway", parts: ["gateway"], here: (parts) => parts[0] === "gateway" },
];

const keyWords = [
  ["/", "Search"],
  ...pages.map(({ key, name: page }) => [`g ${key}`, page]),
  ["↑ ↓", "The call above, below"],
  ["?", "These keys"],
  ["Esc", "Close"],
];

const isTyping = (target) => target.closest("input, textarea, select, [contenteditable]") !== null;

// Keys of the whole page; `help` shows the list of them.
function useKeys(help) {
  const first = useRef(-Infinity);
  useEffect(() => {
    const pressed = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const second = performance.now() - first.current < 1500;
      first.current = -Infinity;
      if (second) {
        const page = pages.find((each) => each.key === event.key);
        if (page) location.hash = to(page.parts);
      } else if (event.key === "g") {
        first.current = performance.now();
      } else if (event.key === "?") {
        help();
      } else if (event.key === "/") {
        event.preventDefault();
        const search = document.querySelector("input[type=search]");
        if (search) search.focus();
        else location.hash = to([], { focus: "search" });
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

const themes = ["auto", "light", "dark"];
const themeOf = () => (themes.includes(localStorage.getItem("cardea.theme")) ? localStorage.getItem("cardea.theme") : "auto");

function Theme() {
  const [theme, setTheme] = useState(themeOf());
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("cardea.theme", theme);
  }, [theme]);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length];
  return html`<button class="quiet" aria-label="Theme" title=${`Theme: ${theme}. Change to ${next}`} onClick=${() => setTheme(next)}>
    ${{ auto: "◐", light: "☀", dark: "☾" }[theme]}
  </button>`;
}

function SignIn({ done }) {
  const [value, setValue] = useState("");
  const [wrong, setWrong] = useState("");
  const enter = async (event) => {
    event.preventDefault();
    if (!isToken(value.trim())) return setWrong("A token has letters, digits and signs of ASCII, and no blanks.");
    setToken(value.trim());
    try {
      await rpc("agents/health", { limit: 1 });
      done();
    } catch (failure) {
      setToken("");
      setWrong(failure.kind === "unauthenticated" ? "The gateway does not accept this token." : failure.message);
    }
  };
  return html`<form class="sign-in" onSubmit=${enter}>
    <h1>Sign in</h1>
    <p>The management of this gateway needs a token with the scope <code>cardea:read</code>, and <code>cardea:write</code> to act.
      An API key (<code>cardea_…</code>) is sent as <code>X-API-Key</code>. It stays in this tab alone.</p>
    <label>Token
      <input type="password" autocomplete="off" autofocus value=${value} onInput=${(event) => setValue(event.target.value)} />
    </label>
    ${wrong && html`<p role="alert" class="problem">${wrong}</p>`}
    <button type="submit" disabled=${!value.trim()}>Sign in</button>
  </form>`;
}

// How the gateway is: `away` since when it does not answer, `replaced`: its version changed under the page.
function useGateway() {
  const [state, setState] = useState({ away: null, signedOut: false, replaced: false, version: "" });
  const change = (changes) => setState((before) => {
    const now = { ...before, ...changes(before) };
    return Object.keys(now).every((key) => now[key] === before[key]) ? before : now;
  });
  useEffect(() => onState(({ reachable, authenticated }) => change((before) => ({
    away: reachable ? null : before.away ?? new Date(),
    signedOut: authenticated === undefined ? before.signedOut : !authenticated,
  }))), []);
  const latest = useRef(state);
  latest.current = state;
  useEffect(() => {
    const look = () => latest.current.signedOut || rpc("gateway/info", {}, { signal: AbortSignal.timeout(3500) }).then(({ version }) => change((before) => ({
      version,
      replaced: before.replaced || !["", version].includes(before.version),
    })), () => {}); // The state has heard of a failure.
    look();
    const timer = setInterval(look, 4000);
    return () => clearInterval(timer);
  }, []);
  return [state, setState];
}

function Page({ route }) {
  const [first, id, third] = route.parts;
  if (first === undefined) return html`<${Overview} query=${route.query} />`;
  if (first === "agents" && id !== undefined) {
    return third === "try"
      ? html`<${Try} key=${id} id=${id} query=${route.query} />`
      : html`<${Agent} key=${id} id=${id} query=${route.query} />`;
  }
  if (first === "calls") return html`<${Calls} query=${route.query} />`;
  if (first === "gateway") return html`<${Gateway} />`;
  return html`<h1>No such page</h1><p><a href="#/">Overview</a></p>`;
}

// Another page begins at its top, with its name in the title, and with the focus unless it has set that itself.
function usePlace(parts) {
  const shown = useRef(null);
  const place = parts.join("/");
  useEffect(() => {
    const page = pages.find(({ here }) => here(parts));
    document.title = `${parts[0] === "agents" ? `${name(parts[1], 80)} – ` : ""}${page?.name ?? "No such page"} – Cardea`;
    if (shown.current !== null && shown.current !== place) {
      scrollTo(0, 0);
      const main = document.getElementById("main");
      if (!main.contains(document.activeElement)) main.focus({ preventScroll: true });
    }
    shown.current = place;
  }, [place]);
}

function App() {
  const route = useRoute();
  const [state, setState] = useGateway();
  const [help, setHelp] = useState(false);
  useKeys(() => setHelp(true));
  usePlace(route.parts);
  const signOut = () => {
    setToken("");
    setState((before) => ({ ...before, signedOut: true }));
  };
  return html`
    <a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      document.getElementById("main").focus();
    }}>Skip to the content</a>
    <header>
      <span class="brand">Cardea</span>
      <nav aria-label="Main">
        ${pages.map(({ name, parts, here }) => html`<a href=${to(parts)} aria-current=${here(route.parts) ? "page" : null}>${name}</a>`)}
      </nav>
      <span class="version">${state.version}</span>
      <${Theme} />
      <button class="quiet" aria-label="Keys" title="Keys" onClick=${() => setHelp(true)}>?</button>
      ${token() && html`<button class="quiet" onClick=${signOut}>Sign out</button>`}
    </header>
    <div role="status" aria-live="polite">
      ${state.away && html`<p class="banner problem">Not reachable since ${clock(state.away)}. The page tries again.</p>`}
      ${state.replaced && html`<p class="banner">The gateway has another version now. Reload this page.
        <button onClick=${() => location.reload()}>Reload this page</button></p>`}
    </div>
    <main id="main" tabindex="-1">
      ${state.signedOut
        ? html`<${SignIn} done=${() => setState((before) => ({ ...before, signedOut: false }))} />`
        : html`<${Page} route=${route} />`}
    </main>
    ${help && html`<${Dialog} title="Keys" close=${() => setHelp(false)}>
      <dl>${keyWords.map(([key, words]) => html`<dt><kbd>${key}</kbd></dt><dd>${words}</dd>`)}</dl>
    <//>`}`;
}

document.documentElement.dataset.theme = themeOf();
const place = document.getElementById("page");
place.replaceChildren();
render(html`<${App} />`, place);
