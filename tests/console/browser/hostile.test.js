// Agents that say things which a page must not obey, or that say very much.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { listen, startConfiguredGateway } from "../../peers/support/programs.js";
import { longestTask, measured, openPage, startBrowser } from "./support/browser.js";
import { startHostileAgent } from "./support/hostile_agent.js";
import { hostile } from "./support/programs.js";

const patience = { timeout: 60_000 };
let agent;
let gateway;
let browser;

before(async () => {
  agent = await startHostileAgent();
  gateway = await startConfiguredGateway({ cards: { max_size: "16MiB" }, agents: { said: { url: agent.url }, tools: hostile(20), deeper: hostile(64) } });
  browser = await startBrowser();
}, patience);

after(async () => {
  await browser?.close();
  await gateway?.stop();
  await agent?.stop();
}, patience);

// Nothing of what agents say is more than text: no element of theirs, no address that runs something, no control character.
async function isTextAlone(page) {
  const found = await page.evaluate(() => {
    const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
    const elements = [...document.querySelectorAll("*")];
    const said = (text) => control.test(text) ? [JSON.stringify(text.slice(0, 200))] : [];
    const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (nodes.nextNode()) texts.push(...said(nodes.currentNode.data));
    return {
      theirs: elements.filter((each) => each.matches("img, iframe, object, embed, script:not([src='main.js']), [onerror], [onclick], style")).map(({ outerHTML }) => outerHTML.slice(0, 200)),
      links: [...document.links].filter((each) => !/^https?:/.test(each.href) || (each.origin !== location.origin && each.rel !== "noopener noreferrer")).map(({ outerHTML }) => outerHTML.slice(0, 200)),
      attributes: elements.flatMap((each) => ["title", "aria-label", "placeholder"].flatMap((key) => said(each.getAttribute(key) ?? ""))),
      texts,
      wide: document.documentElement.scrollWidth - innerWidth,
    };
  });
  assert.deepEqual({ ...found, wide: Math.max(0, found.wide) }, { theirs: [], links: [], attributes: [], texts: [], wide: 0 });
}

const places = ["#/", "#/agents/said", "#/agents/said/try", "#/agents/tools", "#/agents/tools/try", "#/agents/deeper", "#/calls", "#/gateway"];

test("What a hostile agent and a hostile server say is text on every page", patience, async () => {
  const page = await openPage(browser, gateway.admin);
  // Of the server with a schema 64 deep the gateway takes no tools, and says why beside what the program wrote.
  await page.getByRole("region", { name: "Needs attention" }).getByText("nested too deep").waitFor();
  for (const place of places) {
    await page.evaluate((hash) => { location.hash = hash; }, place);
    if (place === "#/agents/said") await page.getByRole("region", { name: "Served card" }).getByText("alert(1)").first().waitFor();
    if (place === "#/agents/tools") await page.getByRole("log", { name: "stderr" }).getByText("\\u001b[31m").first().waitFor();
    if (place === "#/agents/said") await page.getByText("\\u202e").first().waitFor();
    await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
    await page.evaluate(() => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
    await isTextAlone(page);
  }
  page.isClean();
  await page.context().close();
});

// Keys are answered within 200 ms: no task of the page takes longer.
const limit = 200;

test("A stream of 5,000 events is text, and keys are answered meanwhile", patience, async (t) => {
  const page = await openPage(browser, gateway.admin, "#/agents/said/try");
  await page.getByLabel("Message").fill("Hello");
  const list = page.getByRole("list", { name: "Tries" });
  const longest = await longestTask(page, async () => {
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByLabel("Message").focus();
    for (let i = 0; i < 50; ++i) await page.keyboard.press("x", { delay: 10 });
    await list.getByText("done").waitFor();
  });
  assert.equal(await page.getByLabel("Message").inputValue(), `Hello${"x".repeat(50)}`);
  await page.getByRole("log", { name: "Events" }).getByText("completed").first().waitFor();
  measured(t, "the longest task during a stream", [longest], limit);
  await isTextAlone(page);
  page.isClean();
  await page.context().close();
});

test("10,000 tools are listed, searched and called, and keys are answered meanwhile", patience, async (t) => {
  const page = await openPage(browser, gateway.admin);
  await page.getByRole("link", { name: "tools", exact: true }).waitFor();
  const loading = await longestTask(page, async () => {
    await page.getByRole("link", { name: "tools", exact: true }).click();
    await page.getByRole("region", { name: "Served card" }).getByText("alert(1)").first().waitFor();
    await page.getByRole("heading", { name: "Tools 10000" }).waitFor();
  });
  measured(t, "the longest task while tools load", [loading], limit);
  const searching = await longestTask(page, async () => {
    await page.getByLabel("Filter").pressSequentially("tool-779", { delay: 30 });
    await page.getByRole("link", { name: "tool-7799" }).waitFor();
  });
  measured(t, "the longest task of a search", [searching], limit);
  await page.getByRole("link", { name: "Try", exact: true }).click();
  await page.getByText(/^10000 tools/).waitFor();
  const filling = await longestTask(page, async () => {
    await page.getByRole("combobox", { name: "Tool" }).pressSequentially("tool-77", { delay: 30 });
    await page.getByLabel("text", { exact: true }).pressSequentially("written", { delay: 30 });
  });
  measured(t, "the longest task of a form", [filling], limit);
  const listing = await longestTask(page, async () => {
    await page.getByRole("button", { name: "List tools" }).click();
    await page.getByText(/^10000 tools, as this caller/).waitFor();
  });
  measured(t, "the longest task of a caller's list", [listing], limit);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("log", { name: "Events" }).getByText('got {"text":"written"}').first().waitFor();
  await isTextAlone(page);
  page.isClean();
  await page.context().close();
});

test("A deep schema has fields for its first level and JSON for the rest", patience, async (t) => {
  const page = await openPage(browser, gateway.admin, "#/agents/tools/try?tool=deep");
  await page.getByLabel("inner", { exact: true }).waitFor();
  const longest = await longestTask(page, async () => {
    await page.getByLabel("at-19", { exact: true }).pressSequentially("text", { delay: 30 });
    await page.getByLabel("inner", { exact: true }).fill('{"inner": {"inner": 1}}');
  });
  measured(t, "the longest task beside a deep schema", [longest], limit);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("log", { name: "Events" }).getByText('"inner":{"inner":{"inner":1}}').first().waitFor();
  page.isClean();
  await page.context().close();
});

test("A page of another site changes nothing and reads nothing", patience, async () => {
  const other = await listen(createServer((request, response) => response.setHeader("Content-Type", "text/html").end("<!doctype html><title>Other</title>")));
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(other.url);
    const heard = await page.evaluate(async (admin) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "agents/upsert", params: { id: "planted", agent: { url: "http://127.0.0.1:9/" } } });
      const types = ["text/plain", "application/json"];
      const tries = ["rpc", "reload", "try/agents/said", "handover"].flatMap((path) => types.flatMap((type) => ["cors", "no-cors"].map((mode) =>
        fetch(admin + path, { method: "POST", mode, body, headers: { "Content-Type": type } }).then(({ status, type: how }) => `${path} ${how} ${status}`, () => "failed"))));
      const events = fetch(`${admin}events?last=10`).then(() => "events read", () => "failed");
      return (await Promise.all([...tries, events])).filter((each) => !/^failed$| opaque 0$/.test(each));
    }, gateway.admin);
    assert.deepEqual(heard, []);
    const answer = await fetch(`${gateway.admin}rpc`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "agents/health" }) });
    assert.deepEqual((await answer.json()).result.agents.map(({ id }) => id), ["deeper", "said", "tools"]);
    assert.ok(!gateway.log.some((line) => /"event":"(config_reloaded|agent_stored)"|"via":"console".*"peer":"other"/.test(line)));
  } finally {
    await context.close();
    await other.stop();
  }
});
