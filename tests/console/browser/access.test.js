// Signing in where `admin_access` asks for scopes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { startConfiguredGateway } from "../../peers/support/programs.js";
import { openPage, serious, startBrowser } from "./support/browser.js";
import { missing } from "./support/programs.js";

const patience = { timeout: 60_000 };
const tokens = { reader: ["cardea:read"], writer: ["cardea:read", "cardea:write"], caller: ["billing:call"] };
const token = (name) => `token-of-the-${name}-0123456789abcdef`;
let gateway;
let browser;

before(async () => {
  gateway = await startConfiguredGateway({
    access: { providers: Object.entries(tokens).map(([name, scopes]) => ({ type: "static_token", name, principal: name, token: token(name), scopes })) },
    admin_access: "scopes",
    agents: { billing: missing },
  });
  browser = await startBrowser();
}, patience);

after(async () => {
  await browser?.close();
  await gateway?.stop();
}, patience);

// Before somebody signs in, the gateway refuses what the page asks.
const refused = (text) => /status of 40[13]/.test(text);

async function signIn(page, value) {
  await page.getByLabel("Token").fill(value);
  await page.keyboard.press("Enter");
}

test("The page asks for a token, keeps it over a reload in its tab alone, and forgets it with Sign out", patience, async () => {
  const page = await openPage(browser, gateway.admin, "", { refused });
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.deepEqual(await serious(page), []);
  await signIn(page, "wrong");
  await page.getByRole("alert").waitFor();
  await signIn(page, token("writer"));
  const region = page.getByRole("region", { name: "Needs attention" });
  await region.getByText("TOKEN is missing").waitFor();
  await page.reload();
  await region.getByText("TOKEN is missing").waitFor();
  assert.ok(!(await page.evaluate(() => JSON.stringify(localStorage) + document.cookie)).includes(token("writer")));
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole("heading", { name: "Sign in" }).waitFor();
  await other.close();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Token").waitFor();
  assert.ok(!(await page.evaluate(() => JSON.stringify(sessionStorage))).includes(token("writer")));
  await page.reload();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.context().close();
});

test("A token without the right to read does not lead in, and one without the right to write cannot act", patience, async () => {
  const page = await openPage(browser, gateway.admin, "#/agents/billing", { refused });
  await signIn(page, token("caller"));
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Token").waitFor();
  await signIn(page, token("reader"));
  await page.getByRole("button", { name: "Restart" }).click();
  await page.getByRole("alert").filter({ hasText: "cardea:write" }).waitFor();
  page.isClean();
  await page.context().close();
});

test("The credential of a try is the caller's, and the token of the page is for management alone", patience, async () => {
  const page = await openPage(browser, gateway.admin, "#/agents/billing/try", { refused });
  await signIn(page, token("writer"));
  await page.getByRole("combobox", { name: "Tool" }).fill("any");
  await page.getByRole("button", { name: "Send" }).click();
  const view = page.getByRole("region", { name: "Try" });
  await view.getByText("unauthenticated").first().waitFor();
  await page.getByText("Credential and header fields").click();
  await page.getByLabel("Credential").fill(`Bearer ${token("caller")}`);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("list", { name: "Tries" }).getByRole("listitem").nth(1).waitFor();
  await view.getByRole("alert").filter({ hasNotText: "credential" }).waitFor();
  assert.equal(await view.getByText("unauthenticated").count(), 0);
  assert.ok(!(await view.innerText()).includes(token("caller")));
  page.isClean();
  await page.context().close();
});
