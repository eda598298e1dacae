// What the console changes: stored agents, cards, the configuration; and the list of calls.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";

import { startSampleAgent1 } from "../../peers/support/agent_1.js";
import { startGatewayFrom } from "../../peers/support/programs.js";
import { openPage, startBrowser } from "./support/browser.js";

const patience = { timeout: 60_000 };
let agent;
let browser;
let file;
let folder;
let gateway;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "cardea-console-"));
  file = path.join(folder, "cardea.json");
  await writeFile(file, "{}");
  agent = await startSampleAgent1();
  gateway = await startGatewayFrom(file);
  browser = await startBrowser();
}, patience);

after(async () => {
  await browser?.close();
  await gateway?.stop();
  await agent?.stop();
  await rm(folder, { recursive: true });
}, patience);

const table = (page) => page.getByRole("table", { name: "Agents" });

test("A gateway without agents has the form to add one, which is then refreshed and removed", patience, async () => {
  const page = await openPage(browser, gateway.admin);
  await page.getByLabel("Id", { exact: true }).fill("sample");
  await page.getByLabel("URL", { exact: true }).fill(agent.url);
  await page.getByText(`cardea agents add sample ${agent.url} --if-version 0`).waitFor();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await table(page).getByText("healthy").waitFor();
  await table(page).getByRole("link", { name: "sample" }).click();
  await page.getByText("stored, version 1").waitFor();
  await page.getByRole("region", { name: "Raw card" }).getByText(agent.url).first().waitFor();
  await page.getByRole("region", { name: "Served card" }).getByText("/agents/sample").first().waitFor();
  await page.getByRole("button", { name: "Refresh card" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Callers would get the same card.").waitFor();
  await dialog.getByRole("button", { name: "Refresh now" }).click();
  await dialog.getByText("The card is the same.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Remove" }).click();
  await dialog.getByRole("button", { name: "Remove now" }).click();
  await page.getByLabel("Id", { exact: true }).waitFor();
  page.isClean();
  await page.context().close();
});

test("A reload that is refused says each problem, and the next one what has changed", patience, async () => {
  const page = await openPage(browser, gateway.admin, "#/gateway", { refused: (text, url) => url.endsWith("/reload") });
  const region = page.getByRole("region", { name: "Last reload" });
  await region.getByText("None since the start.").waitFor();
  await writeFile(file, JSON.stringify({ agents: { words: { url: "ftp://words.test/" } } }));
  await page.getByRole("button", { name: "Reload" }).click();
  await region.getByText("agents.words.url").first().waitFor();
  await region.getByText("refused", { exact: true }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("o");
  const attention = page.getByRole("region", { name: "Needs attention" });
  await attention.getByRole("listitem").first().waitFor();
  await writeFile(file, JSON.stringify({ agents: { words: { url: agent.url } } }));
  await page.keyboard.press("g");
  await page.keyboard.press("g");
  await page.getByRole("button", { name: "Reload" }).click();
  await region.getByText("refused", { exact: true }).waitFor({ state: "detached" });
  await page.keyboard.press("g");
  await page.keyboard.press("o");
  await attention.getByText("Nothing needs you.").waitFor();
  await table(page).getByRole("link", { name: "words" }).waitFor();
  page.isClean();
  await page.context().close();
});

test("Calls appear live, wait while the list is paused, and open into their fields", patience, async () => {
  const page = await openPage(browser, gateway.admin, "#/calls");
  await page.getByText("Live.").waitFor();
  const call = (id) => fetch(`${gateway.base}agents/${id}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"none"}}' });
  const nobody = page.getByRole("log", { name: "Calls" }).getByRole("button").filter({ hasText: "agent_not_found" });
  await call("nobody");
  await nobody.first().waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await call("nobody");
  await page.getByText("1 more call waits.").waitFor();
  assert.equal(await nobody.count(), 1);
  await page.getByRole("button", { name: "Pause" }).click();
  await nobody.nth(1).waitFor();
  await nobody.first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("log", { name: "Calls" }).getByText("trace_id").waitFor();
  page.isClean();
  await page.context().close();
});

test("A page of another version than the gateway's offers to reload itself", patience, async () => {
  const page = await openPage(browser, gateway.admin);
  await page.getByText(/^\d+\.\d+\.\d+/).waitFor();
  await page.route("**/rpc", async (route) => {
    const answer = await route.fetch();
    const body = await answer.text();
    await route.fulfill({ response: answer, body: body.replace(/"version":"[^"]*"/, '"version":"99.0.0"') });
  });
  await page.getByText("The gateway has another version now.").waitFor();
  await page.unrouteAll({ behavior: "wait" });
  await page.getByRole("button", { name: "Reload this page" }).click();
  await page.getByText("The gateway has another version now.").waitFor({ state: "detached" });
  page.isClean();
  await page.context().close();
});
