// A page of the console in a browser, and what it must never do.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

const axe = await readFile(fileURLToPath(new URL("../node_modules/axe-core/axe.min.js", import.meta.url)), "utf8");

export const startBrowser = () => chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: process.getuid() === 0 ? ["--no-sandbox"] : [], // Its sandbox does not run as root.
});

// A page at `admin` + `console/` + `hash`, once its frame is drawn. `page.isClean()` fails if it did what no page may: an error on the
// console, a report of CSP, a dialog, a request elsewhere. `refused(text, url)`: whether an error on the console is what the test makes.
export async function openPage(browser, admin, hash = "", { refused = () => false, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const bad = [];
  page.on("console", (message) => {
    const { url } = message.location();
    const isTry = url.startsWith(`${admin}try/`) && message.text().startsWith("Failed to load resource");
    if (["error", "warning"].includes(message.type()) && !isTry && !refused(message.text(), url)) bad.push(`console: ${message.text()} (${url})`);
  });
  page.on("pageerror", (error) => bad.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => {
    bad.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  context.on("request", (request) => request.url().startsWith(admin) || bad.push(`request to ${request.url()}`));
  context.on("page", (other) => other === page || bad.push("another page opened"));
  await page.exposeFunction("reportedByPolicy", (what) => bad.push(`CSP: ${what}`));
  await page.addInitScript(() => document.addEventListener("securitypolicyviolation",
    (event) => globalThis.reportedByPolicy(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`)));
  page.isClean = () => assert.deepEqual(bad, []);
  await page.goto(`${admin}console/${hash}`);
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  return page;
}

// The time, in ms since the epoch, at which `words` are drawn in the element.
export const drawnAt = (locator, words) => locator.evaluate((element, wanted) => new Promise((done) => {
  const look = (self) => {
    if (!element.textContent.includes(wanted)) return false;
    self?.disconnect();
    requestAnimationFrame(() => done(Date.now()));
    return true;
  };
  if (!look()) new MutationObserver((_, self) => look(self)).observe(element, { subtree: true, childList: true, characterData: true });
}), words);

// Says what was measured, and fails if even the best is over `limit` ms: a machine that is busy with something else makes single ones slow.
export function measured(test, what, values, limit) {
  test.diagnostic(`${what}: ${values.map((value) => Math.round(value)).join(", ")} ms (at most ${limit})`);
  assert.ok(values.length > 0 && Math.min(...values) <= limit, `${what}: ${values} ms, over ${limit}`);
}

// Presses Tab until `reached(element)` holds for what has the focus.
export async function tabTo(page, reached, what, most = 80) {
  for (let i = 0; i < most; ++i) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(`(${reached})(document.activeElement)`)) return;
  }
  assert.fail(`${most} times Tab do not reach ${what}`);
}

// The longest that the page cannot answer a key while `work()` runs, in ms. It is the processor's time of the longest task of the main
// thread: what other programs take meanwhile is not the page's.
export async function longestTask(page, work) {
  const browser = page.context().browser();
  await browser.startTracing(page, { categories: ["devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel", "__metadata"] });
  await work();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100))));
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const threads = traceEvents.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(({ pid, tid }) => `${pid} ${tid}`);
  const tasks = traceEvents.filter(({ name, pid, tid, tdur }) => name === "RunTask" && tdur > 0 && threads.includes(`${pid} ${tid}`));
  assert.ok(tasks.length > 10, "the trace has no tasks");
  return Math.max(...tasks.map(({ tdur }) => tdur)) / 1000;
}

// What axe-core calls serious or critical, in the page as it is, in both themes.
export async function serious(page) {
  const session = await page.context().newCDPSession(page);
  const found = [];
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
      expression: `${axe}; axe.run(document, { resultTypes: ["violations"] }).then(({ violations, passes }) => ({ passes: passes.length,
        list: violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
          .map(({ id, help, nodes }) => id + ": " + help + " " + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(" | ")) }))`,
      awaitPromise: true,
      returnByValue: true,
    });
    assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
    assert.ok(result.value.passes > 5, "axe-core looked at nothing");
    found.push(...result.value.list.map((each) => `${theme}: ${each}`));
  }
  await session.detach();
  return found;
}
