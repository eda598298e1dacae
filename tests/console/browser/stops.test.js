// What the console shows of agents that are contained, of tools that wait for approval, of denied calls, and of who calls whom.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";

import { startSampleAgent1 } from "../../peers/support/agent_1.js";
import { startConfiguredGateway } from "../../peers/support/programs.js";
import { openPage, serious, startBrowser, tabTo } from "./support/browser.js";
import { changing } from "./support/programs.js";

const patience = { timeout: 60_000 };
const token = (name) => `token-of-the-${name}-0123456789abcdef`;
const tool = (name, description = "Does it.") => ({ name, description, inputSchema: { type: "object" } });
let agent;
let browser;
let folder;
let gateway;
let tools;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "cardea-console-"));
  tools = path.join(folder, "tools.json");
  await writeFile(tools, JSON.stringify([tool("read")]));
  agent = await startSampleAgent1();
  gateway = await startConfiguredGateway({
    access: { providers: ["ann", "bob"].map((name) => ({ type: "static_token", name, principal: name, token: token(name), scopes: [] })) },
    agents: {
      sample: { url: agent.url, discover: "anyone", call: [{ providers: ["ann"] }], acts_as: [{ provider: "bob", principal: "bob" }] },
      files: { ...changing(tools), pin: "enforce", discover: "anyone", call: "anyone" },
    },
  });
  browser = await startBrowser();
}, patience);

after(async () => {
  await browser?.close();
  await gateway?.stop();
  await agent?.stop();
  await rm(folder, { recursive: true });
}, patience);

const rpc = async (method, params) => (await (await fetch(`${gateway.admin}rpc`, { method: "POST", headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) })).json()).result;

const call = (caller) => fetch(`${gateway.base}agents/sample`, { method: "POST",
  headers: { "Content-Type": "application/json", ...(caller && { Authorization: `Bearer ${token(caller)}` }) },
  body: '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"none"}}' });

test("An agent is contained with a reason after a look at what that cuts, needs attention, and is released", patience, async () => {
  const page = await openPage(browser, gateway.admin, "#/agents/sample");
  await page.getByRole("button", { name: "Contain", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("This would cut no calls, no streams and no sessions.").waitFor();
  const act = dialog.getByRole("button", { name: "Contain now" });
  assert.ok(await act.isDisabled(), "it can be contained without a reason");
  assert.deepEqual(await serious(page), []);
  await dialog.getByLabel("Reason").fill("It leaks what it is told.");
  await dialog.getByLabel("Until").fill("a while");
  await act.click();
  await dialog.getByRole("alert").getByText("until").first().waitFor();
  await dialog.getByLabel("Until").fill("2h");
  await dialog.getByLabel("Notice").fill("Back at noon.");
  await dialog.getByText("cardea agents contain sample --reason 'It leaks what it is told.' --until 2h --notice 'Back at noon.'").waitFor();
  await act.click();
  await dialog.getByText("Contained. It cut no calls, no streams and no sessions.").waitFor();
  await page.keyboard.press("Escape");
  const stopped = page.getByRole("region", { name: "Contained" });
  await stopped.getByText("It leaks what it is told.").waitFor();
  await stopped.getByText("Back at noon.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Contain", exact: true }).count(), 0);
  assert.deepEqual(await serious(page), []);
  const refused = await call("ann");
  assert.equal(refused.status, 403);
  assert.ok((await refused.text()).includes("Back at noon."));

  await page.keyboard.press("g");
  await page.keyboard.press("o");
  const attention = page.getByRole("region", { name: "Needs attention" });
  await attention.getByText("It leaks what it is told.").waitFor();
  await page.getByRole("table", { name: "Agents" }).getByText("■ contained").waitFor();
  assert.deepEqual(await serious(page), []);
  await attention.getByRole("link", { name: "sample" }).click();

  await stopped.getByRole("button", { name: "Release" }).click();
  await stopped.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Contain", exact: true }).waitFor();
  assert.equal((await call("ann")).status, 200);
  page.isClean();
  await page.context().close();
});

test("The dialog that contains is reached and closed with keys alone", patience, async () => {
  const page = await openPage(browser, gateway.admin, "#/agents/sample");
  await page.getByRole("button", { name: "Contain", exact: true }).waitFor();
  await tabTo(page, (at) => at.textContent === "Contain", "Contain");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("This would cut").waitFor();
  await tabTo(page, (at) => at.name === "reason", "the reason");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal((await rpc("agents/get", { id: "sample" })).containment ?? null, null);
  page.isClean();
  await page.context().close();
});

test("A tool that is new waits with what it is, needs attention, and reaches callers once it is approved", patience, async () => {
  const page = await openPage(browser, gateway.admin, "#/agents/files");
  const pins = page.getByRole("region", { name: "Pins" });
  await pins.getByText("Nothing waits for approval.").waitFor();
  await writeFile(tools, JSON.stringify([tool("read", "Reads <b>everything</b>."), tool("remove")]));
  await rpc("agents/refreshCard", { id: "files" });
  await pins.getByText("The tool remove is new.").waitFor();
  await pins.getByText("The tool read has other words; callers get the approved ones.").waitFor();
  await pins.getByText("Reads <b>everything</b>.").first().waitFor();
  assert.deepEqual(await serious(page), []);
  await page.keyboard.press("g");
  await page.keyboard.press("o");
  const attention = page.getByRole("region", { name: "Needs attention" });
  await attention.getByRole("link", { name: "files" }).first().click();
  await pins.getByText("cardea agents approve files --tool remove").waitFor();
  await pins.getByRole("button", { name: "Approve tool remove" }).click();
  await pins.getByText("The tool remove is new.").waitFor({ state: "detached" });
  await pins.getByRole("button", { name: "Approve tool read" }).click();
  await pins.getByText("Nothing waits for approval.").waitFor();
  const [{ held, approved }] = (await rpc("agents/pins", { id: "files" })).agents;
  assert.deepEqual(held, []);
  assert.ok(approved.some((each) => each.name === "remove"));
  page.isClean();
  await page.context().close();
});

test("A denied call opens into its rule and the steps that decide it", patience, async () => {
  const page = await openPage(browser, gateway.admin, "#/calls");
  await page.getByText("Live.").waitFor();
  assert.equal((await call("bob")).status, 403);
  const calls = page.getByRole("log", { name: "Calls" });
  await calls.getByRole("button").filter({ hasText: "forbidden" }).first().click();
  const denied = calls.getByRole("group", { name: "Denied" });
  await denied.getByText("May call it: deny").waitFor();
  await denied.getByText("Identity: pass").waitFor();
  assert.deepEqual(await serious(page), []);
  page.isClean();
  await page.context().close();
});

test("The gateway's page tells who calls whom, with the agent that acts as a principal", patience, async () => {
  await call("ann");
  await call("bob");
  const page = await openPage(browser, gateway.admin, "#/gateway");
  const edges = page.getByRole("region", { name: "Who calls whom" });
  await edges.getByRole("row", { name: /^ann/ }).waitFor();
  await edges.getByLabel("Most").selectOption("refusals");
  await edges.getByRole("row").nth(1).getByText("sample (bob)").waitFor();
  assert.deepEqual(await serious(page), []);
  page.isClean();
  await page.context().close();
});
