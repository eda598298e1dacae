// What the overview shows of agents, how soon, and what it says of a gateway that is away.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";

import { listen, startConfiguredGateway, startGatewayFrom } from "../../peers/support/programs.js";
import { freePort } from "../../peers/support/mcp_programs.js";
import { drawnAt, measured, openPage, startBrowser } from "./support/browser.js";
import { missing, quiet } from "./support/programs.js";

const patience = { timeout: 60_000 };
let browser;
let folder;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "cardea-console-"));
  browser = await startBrowser();
}, patience);

after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true });
}, patience);

const attention = (page) => page.getByRole("region", { name: "Needs attention" });
const rows = (page) => page.getByRole("table", { name: "Agents" }).locator("tbody tr");

test("A program that is killed is on the overview within a second, with why and what to do", patience, async (t) => {
  const ids = ["first", "second", "third"];
  const file = path.join(folder, "programs.json");
  await writeFile(file, JSON.stringify({ agents: Object.fromEntries(ids.map((id) => [id, quiet(path.join(folder, id))])) }));
  const { admin, stop } = await startGatewayFrom(file);
  try {
    const page = await openPage(browser, admin);
    await attention(page).getByText("Nothing needs you.").waitFor();
    const seen = [];
    for (const id of ids) {
      const program = Number(await readFile(path.join(folder, id), "utf8"));
      const drawn = drawnAt(attention(page), id);
      const begun = Date.now();
      process.kill(program, "SIGKILL");
      seen.push((await drawn) - begun);
      await attention(page).getByText("The data are locked").nth(seen.length - 1).waitFor();
      await page.goto("about:blank");
      await page.goto(`${admin}console/`);
      await attention(page).waitFor();
    }
    measured(t, "a crash on the overview", seen, 1000);
    page.isClean();
    await page.context().close();
  } finally {
    await stop();
  }
});

test("A program that misses a variable has what it wrote as its reason, in the region, the table and its page", patience, async () => {
  const { admin, stop } = await startConfiguredGateway({ agents: { billing: missing } });
  try {
    const page = await openPage(browser, admin);
    await attention(page).getByText("TOKEN is missing").waitFor();
    assert.match(await rows(page).first().innerText(), /unhealthy[\s\S]*exit code 3[\s\S]*TOKEN is missing/);
    await attention(page).getByRole("link", { name: "billing" }).click();
    await page.getByRole("log", { name: "stderr" }).getByText("TOKEN is missing").first().waitFor();
    await page.getByRole("button", { name: "Restart" }).click();
    await page.getByText("Another session begins").waitFor();
    page.isClean();
    await page.context().close();
  } finally {
    await stop();
  }
});

test("A gateway that ends and comes back is seen to be away, and the page recovers within 5 s", patience, async (t) => {
  const file = path.join(folder, "cardea.json");
  const port = await freePort();
  await writeFile(file, JSON.stringify({ agents: { billing: missing } }));
  let gateway = await startGatewayFrom(file, `127.0.0.1:${port}`);
  try {
    const page = await openPage(browser, gateway.admin, "#/calls", { refused: (text) => /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED_ENCODING/.test(text) });
    await page.getByText("Live.").waitFor();
    await gateway.kill();
    await page.getByText("Not reachable since").waitFor();
    await page.getByText("Not connected since").waitFor();
    gateway = await startGatewayFrom(file, `127.0.0.1:${port}`);
    const begun = Date.now();
    await page.getByText("Not reachable since").waitFor({ state: "detached" });
    const reached = Date.now() - begun;
    await page.getByText("Live.").waitFor();
    measured(t, "reached again", [reached], 5000);
    measured(t, "calls live again", [Date.now() - begun], 5000);
    await page.goto(`${gateway.admin}console/#/`);
    await attention(page).getByText("TOKEN is missing").waitFor();
    page.isClean();
    await page.context().close();
  } finally {
    await gateway.stop();
  }
});

test("500 agents are drawn, found and sorted", patience, async (t) => {
  const card = (url) => ({ protocolVersion: "0.3.0", name: "One", description: "One of many.", url, preferredTransport: "JSONRPC", version: "1", capabilities: {},
    defaultInputModes: ["text"], defaultOutputModes: ["text"], skills: [{ id: "say", name: "Say", description: "Says it.", tags: [] }] });
  const many = await listen(createServer((request, response) => {
    response.setHeader("Content-Type", "application/json").end(JSON.stringify(card(`http://${request.headers.host}/`)));
  }));
  const ids = Array.from({ length: 500 }, (_, i) => `agent-${String(i).padStart(3, "0")}`);
  const { admin, stop } = await startConfiguredGateway({ agents: Object.fromEntries(ids.map((id, i) => [id, { url: new URL(`${i}/`, many.url).href }])) });
  try {
    const page = await openPage(browser, admin);
    const drawn = [];
    for (let round = 0; round < 3; ++round) {
      await page.goto("about:blank");
      await page.goto(`${admin}console/`, { waitUntil: "commit" });
      await rows(page).nth(99).waitFor();
      drawn.push(await page.evaluate(() => performance.now()));
    }
    // 500 ms on a machine that does nothing else.
    measured(t, "100 rows of 500 agents drawn", drawn, 2000);
    for (const count of [250, 500]) {
      const begun = Date.now();
      await page.getByRole("button", { name: "More" }).click();
      await rows(page).nth(count - 1).waitFor();
      t.diagnostic(`${count} rows drawn after: ${Date.now() - begun} ms`);
    }
    await page.keyboard.press("/");
    await page.keyboard.type("agent-49");
    await rows(page).nth(10).waitFor({ state: "detached" });
    assert.equal(await rows(page).count(), 10);
    await page.getByRole("button", { name: "Agent", exact: true }).click();
    await rows(page).first().getByRole("link", { name: "agent-490" }).waitFor();
    assert.match(page.url(), /text=agent-49.*sort=id/);
    page.isClean();
    await page.context().close();
  } finally {
    await stop();
    await many.stop();
  }
});
