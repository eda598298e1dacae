// Tries of agents of both generations of A2A and of an MCP server, by mouse and by keyboard alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { startSampleAgent03 } from "../../peers/support/agent_03.js";
import { startSampleAgent1 } from "../../peers/support/agent_1.js";
import { startConfiguredGateway } from "../../peers/support/programs.js";
import { drawnAt, measured, openPage, startBrowser, tabTo } from "./support/browser.js";
import { everything } from "./support/programs.js";

const patience = { timeout: 60_000 };
const agents = {};
let gateway;
let browser;

before(async () => {
  Object.assign(agents, { old: await startSampleAgent03(), new: await startSampleAgent1() });
  gateway = await startConfiguredGateway({ agents: { old: { url: agents.old.url }, new: { url: agents.new.url }, everything } });
  browser = await startBrowser();
}, patience);

after(async () => {
  await browser?.close();
  await gateway?.stop();
  await Promise.all(Object.values(agents).map((agent) => agent.stop()));
}, patience);

const events = (page) => page.getByRole("log", { name: "Events" });
const send = (page) => page.getByRole("button", { name: "Send" });

// The time at which the agent hears of a request to cancel.
const cancelledAt = (agent) => new Promise((done) => {
  const { cancel } = agent.gate.constructor.prototype;
  agent.gate.cancel = (id) => {
    agent.gate.cancel = cancel;
    done(Date.now());
    agent.gate.cancel(id);
  };
});

for (const [id, version] of [["old", "0.3"], ["new", "1.0"]]) {
  test(`The first event of a stream of A2A ${version} is drawn at once, and a cancel is at the agent at once`, patience, async (t) => {
    const agent = agents[id];
    const page = await openPage(browser, gateway.admin, `#/agents/${id}/try`);
    await page.getByLabel("Version").selectOption(version);
    await page.getByLabel("Message").fill("long task");
    const shown = [];
    const cancelled = [];
    for (let round = 0; round < 3; ++round) {
      const before = agent.calls.all.length;
      // The agent sends its first event when it has the request.
      const sent = agent.calls.wanted((call) => call.method === "POST" && agent.calls.all.indexOf(call) >= before, "call").then(() => Date.now());
      const box = await page.locator(".try").elementHandle();
      const drawn = box.evaluate((element, count) => new Promise((done) => {
        const look = () => {
          if (element.querySelectorAll("[aria-label=Tries] li").length === count && element.querySelector("[aria-label=Events] > div b")) requestAnimationFrame(() => done(Date.now()));
          else requestAnimationFrame(look);
        };
        look();
      }), round + 1);
      await send(page).click();
      shown.push((await drawn) - (await sent));
      await events(page).getByText("working").first().waitFor();
      const heard = cancelledAt(agent);
      const pressed = page.getByRole("button", { name: "Cancel", exact: true }).evaluate((button) => new Promise((done) => button.addEventListener("click", () => done(Date.now()), { once: true })));
      await page.getByRole("button", { name: "Cancel", exact: true }).click();
      cancelled.push((await heard) - (await pressed));
      await events(page).getByText("canceled").first().waitFor();
      await page.getByRole("region", { name: "Try" }).getByText("cancelled", { exact: false }).first().waitFor();
    }
    measured(t, "first event", shown, 300);
    measured(t, "cancel", cancelled, 250);
    page.isClean();
    await page.context().close();
  });
}

test("A try without a stream has its answer, with both heads and bodies and a line for curl", patience, async () => {
  const page = await openPage(browser, gateway.admin, "#/agents/new/try");
  await page.getByLabel("Stream").uncheck();
  await page.getByLabel("Example").selectOption({ label: "hi" });
  await send(page).click();
  await events(page).getByText("Nice to meet you").first().waitFor();
  assert.match(await page.getByLabel("Request", { exact: true }).innerText(), /^POST http:\/\/127\.0\.0\.1:\d+\/agents\/new\n[\s\S]*a2a-version: 1\.0[\s\S]*"SendMessage"/i);
  assert.match(await page.getByLabel("Answer", { exact: true }).innerText(), /^HTTP 200\n[\s\S]*content-type: application\/[a+2]*json[\s\S]*TASK_STATE_COMPLETED/i);
  await page.getByRole("button", { name: "Copy as curl" }).waitFor();
  page.isClean();
  await page.context().close();
});

test("A try of an agent that is away says why, and stays in the list of tries", patience, async () => {
  const { admin, stop } = await startConfiguredGateway({ agents: { away: { url: "http://127.0.0.1:9/" } } });
  try {
    const page = await openPage(browser, admin, "#/agents/away/try");
    await page.getByLabel("Message").fill("Hello");
    await send(page).click();
    const problem = page.getByRole("region", { name: "Try" }).getByRole("alert");
    await problem.waitFor();
    assert.match(await page.getByRole("list", { name: "Tries" }).innerText(), /Hello · failed/);
    await page.getByRole("region", { name: "Try" }).getByText("upstream_refused").first().waitFor();
    page.isClean();
    await page.context().close();
  } finally {
    await stop();
  }
});

test("The keyboard alone leads from the overview to a streamed call", patience, async () => {
  const page = await openPage(browser, gateway.admin);
  await page.getByRole("table", { name: "Agents" }).getByRole("link", { name: "new" }).waitFor();
  await tabTo(page, (element) => element.textContent === "new" && element.closest("th"), "the agent");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "new" }).waitFor();
  await page.getByRole("link", { name: "Try", exact: true }).waitFor();
  await tabTo(page, (element) => element.textContent === "Try", "Try");
  await page.keyboard.press("Enter");
  await page.getByLabel("Message").waitFor();
  await tabTo(page, (element) => element.tagName === "TEXTAREA" && /^Message/.test(element.closest("label")?.textContent), "Message");
  await page.keyboard.type("Good morning");
  await tabTo(page, (element) => element.textContent === "Send", "Send");
  await page.keyboard.press("Enter");
  await events(page).getByText("You said: 'Good morning'").first().waitFor();
  assert.match(await page.getByLabel("Request", { exact: true }).innerText(), /SendStreamingMessage/);
  page.isClean();
  await page.context().close();
});

test("The keyboard alone leads from the overview to a call of a tool", patience, async () => {
  const page = await openPage(browser, gateway.admin);
  await page.getByRole("table", { name: "Agents" }).getByText("healthy").nth(2).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("everyth");
  await page.getByRole("table", { name: "Agents" }).getByRole("link", { name: "old" }).waitFor({ state: "detached" });
  await tabTo(page, (element) => element.textContent === "everything" && element.closest("th"), "the server");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "echo", exact: true }).waitFor();
  await tabTo(page, (element) => element.textContent === "Try", "Try");
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "Tool" }).waitFor();
  await tabTo(page, (element) => element.matches("input[list=tools]"), "Tool");
  await page.keyboard.type("get-sum");
  await page.getByLabel("a", { exact: true }).waitFor();
  for (const number of ["3", "39"]) {
    await page.keyboard.press("Tab");
    await page.keyboard.type(number);
  }
  await page.keyboard.press("Control+Enter");
  await events(page).getByText("The sum of 3 and 39 is 42.").first().waitFor();
  page.isClean();
  await page.context().close();
});

test("A tool that takes long says how far it is, and is cancelled at the server", patience, async () => {
  const page = await openPage(browser, gateway.admin, "#/agents/everything/try?tool=trigger-long-running-operation");
  await page.getByLabel("duration", { exact: true }).fill("30");
  await page.getByLabel("steps", { exact: true }).fill("150");
  await send(page).click();
  await events(page).getByText("of 150").first().waitFor();
  const calls = gateway.log.length;
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByRole("list", { name: "Tries" }).getByText("cancelled").waitFor();
  const wanted = () => gateway.log.slice(calls).some((line) => line.includes('"notifications/cancelled"') && line.includes('"via":"console"'));
  for (let i = 0; i < 100 && !wanted(); ++i) await new Promise((done) => setTimeout(done, 20));
  assert.ok(wanted(), gateway.log.slice(calls).join("\n"));
  page.isClean();
  await page.context().close();
});
