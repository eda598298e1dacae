// What axe-core finds on each page, in both themes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { startSampleAgent1 } from "../../peers/support/agent_1.js";
import { startConfiguredGateway } from "../../peers/support/programs.js";
import { openPage, serious, startBrowser } from "./support/browser.js";
import { everything, missing } from "./support/programs.js";

const patience = { timeout: 90_000 };
let agent;
let gateway;
let browser;
let page;

before(async () => {
  agent = await startSampleAgent1();
  gateway = await startConfiguredGateway({ agents: { sample: { url: agent.url }, everything, billing: missing } });
  browser = await startBrowser();
  page = await openPage(browser, gateway.admin);
}, patience);

after(async () => {
  await browser?.close();
  await gateway?.stop();
  await agent?.stop();
}, patience);

const events = () => page.getByRole("log", { name: "Events" });

const places = {
  "the overview": ["#/", async () => {
    await page.getByRole("table", { name: "Agents" }).getByText("● healthy").nth(1).waitFor();
    await page.getByRole("region", { name: "Needs attention" }).getByText("TOKEN").first().waitFor();
  }],
  "an agent": ["#/agents/sample", () => page.getByRole("region", { name: "Served card" }).waitFor()],
  "an MCP server": ["#/agents/everything", () => page.getByRole("link", { name: "echo", exact: true }).waitFor()],
  "a program that fails": ["#/agents/billing", () => page.getByRole("log", { name: "stderr" }).getByText("TOKEN").first().waitFor()],
  "a try of an agent": ["#/agents/sample/try", async () => {
    await page.getByLabel("Message").fill("Hello");
    await page.getByRole("button", { name: "Send" }).click();
    await events().getByText("completed").first().waitFor();
  }],
  "a try of a tool": ["#/agents/everything/try?tool=echo", async () => {
    await page.getByLabel("message", { exact: true }).fill("Hello");
    await page.getByRole("button", { name: "Send" }).click();
    await events().getByText("Echo: Hello").waitFor();
  }],
  "calls": ["#/calls", () => page.getByRole("log", { name: "Calls" }).getByRole("button").first().click()],
  "the gateway": ["#/gateway", () => page.getByRole("region", { name: "Configuration" }).getByText("billing").first().waitFor()],
};

for (const [what, [hash, arrive]] of Object.entries(places)) {
  test(`axe-core finds nothing serious in ${what}`, patience, async () => {
    await page.goto("about:blank");
    await page.goto(`${gateway.admin}console/${hash}`);
    await arrive();
    await page.evaluate(() => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
    assert.deepEqual(await serious(page), []);
    page.isClean();
  });
}

test("axe-core finds nothing serious in the list of keys and in the form that adds an agent", patience, async () => {
  await page.goto(`${gateway.admin}console/#/`);
  await page.getByRole("button", { name: "New agent" }).click();
  await page.getByRole("dialog").getByLabel("URL").waitFor();
  assert.deepEqual(await serious(page), []);
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("Search").waitFor();
  assert.deepEqual(await serious(page), []);
  page.isClean();
});

test("Theme changes between that of the system, light and dark, and is kept", patience, async () => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto("about:blank");
  await page.goto(`${gateway.admin}console/#/`);
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  const change = async (theme) => {
    await page.getByRole("button", { name: "Theme" }).click();
    await page.locator(`:root[data-theme=${theme}]`).waitFor();
  };
  await change("light");
  assert.equal(await background(), light);
  await change("dark");
  const dark = await background();
  assert.notEqual(dark, light);
  await page.reload();
  await page.locator(":root[data-theme=dark]").waitFor();
  assert.equal(await background(), dark);
  await change("auto");
  assert.equal(await background(), light);
  page.isClean();
});

test("Pages fit into a window of 360 px and one of 1280 px at 200 %, and axe-core finds nothing serious there", patience, async () => {
  for (const width of [360, 640]) {
    await page.setViewportSize({ width, height: 740 });
    for (const [what, [hash]] of Object.entries(places)) {
      await page.goto("about:blank");
      await page.goto(`${gateway.admin}console/${hash}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what} at ${width} px`);
      if (width === 360) assert.deepEqual(await serious(page), [], what);
    }
  }
  page.isClean();
});
