import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { Model } from "../../src/cli/ui/model.ts";
import { openPage } from "./opened-page.ts";
import { recordedModel } from "./recorded-model.ts";

const now = Date.now();
const model = recordedModel(now);
const row = (id: string) => model.workloads[id] as Model["workloads"][string];
const [checkout, resize] = [row("east/shop/deployment/checkout"), row("east/media/deployment/resize")];

/** Every place whose view differs. */
const places = [
  "?view=needs",
  "?view=rolling",
  "?view=workloads",
  "?view=workload&id=east/shop/deployment/recommendations",
  "?view=object&cluster=east&namespace=shop&object=configmap/common",
  "?view=timeline",
  "?view=act",
];

describe("Needs me", () => {
  it("shows each workload that needs a person, with its sentence and the command to copy", async () => {
    await using page = await openPage(model);
    const { tab } = page;
    const rows = await tab
      .getByRole("listitem")
      .filter({ has: tab.locator("article") })
      .allInnerTexts();
    const expected = Object.values(model.workloads).filter(({ needsPerson }) => needsPerson);
    expect(rows).toHaveLength(expected.length);
    for (const { name, message, command } of expected)
      expect(
        rows.filter((text) => text.includes(name) && text.includes(message) && text.includes(command ?? "")),
      ).toHaveLength(1);
    expect(rows[0]).toContain("failed");
    await tab.getByRole("button", { name: `Copy: ${checkout.command}` }).click();
    await expect.poll(() => tab.evaluate("navigator.clipboard.readText()")).toBe(checkout.command);
    await tab.getByRole("status").getByText("Copied the command.").waitFor({ state: "attached" });
  });

  it("keeps filters in the address, after a reload too, and Back returns", async () => {
    await using page = await openPage(model);
    const { tab } = page;
    const names = () => tab.locator(".row .name").allInnerTexts();
    await tab.getByRole("link", { name: "held: approval" }).click();
    expect(await names()).toEqual(["shop/deployment/cart"]);
    await tab.reload();
    await tab.locator(".row").first().waitFor();
    expect(await names()).toEqual(["shop/deployment/cart"]);
    await tab.goBack();
    await expect.poll(names).toHaveLength(7);
    await tab.getByLabel("Namespace").selectOption("billing");
    await tab.getByRole("searchbox").fill("INVOICE");
    expect(await names()).toEqual(["billing/deployment/invoices"]);
    expect(new URL(tab.url()).searchParams.toString()).toBe("namespace=billing&text=INVOICE");
    await tab.getByRole("button", { name: "Remove filters" }).click();
    await expect.poll(names).toHaveLength(7);
  });

  it("shows a row in a state that the page does not know, and texts of other people as text", async () => {
    const hostile = '<img src="https://example.com/x" onerror="document.title=1">';
    const given = { ...checkout, state: "newer" as "held", because: null, message: hostile };
    await using page = await openPage({ ...model, workloads: { [given.id]: given } });
    await page.tab.getByText("newer").first().waitFor();
    expect(await page.tab.locator(".message").first().innerText()).toBe(hostile);
  });
});

describe("Rolling now", () => {
  it("shows why a change is halted, and how to go on", async () => {
    await using page = await openPage(model, { place: "?view=rolling" });
    const text = await page.tab.getByRole("region", { name: "Change of shop/configmap/common" }).innerText();
    for (const part of [
      "FEATURE_X",
      "argocd-controller",
      "recommendations-5b8c6d-b0x2q",
      "CrashLoopBackOff",
      "exit code 1",
    ])
      expect(text).toContain(part);
    expect(text).toContain("6 run with the old content. 4 would read the new content if they restart.");
    expect(text).toContain("wave resume configmap/common -n shop");
    const titles = await page.tab.locator(".card .title").allInnerTexts();
    expect(titles.map((title) => title.trim().split(/\s/)[0])).toEqual([
      "halted",
      "soaking",
      "rolling",
      "waiting",
      "complete",
    ]);
  });

  it("changes Pods from old to new, runs the soak down, and folds a complete change into one line", async () => {
    await using page = await openPage(model, { place: "?view=rolling" });
    const { server, tab } = page;
    const soaking = tab.getByRole("region", { name: "Change of edge/configmap/routes" });
    const left = () => soaking.locator(".left").innerText();
    const soakingChange = model.changes.soaking as Model["changes"][string];
    server.change({ changes: { soaking: { ...soakingChange, soakUntil: Date.now() + 100_000 } } });
    await expect.poll(left).toMatch(/^\d\ds$/);
    const first = await left();
    await expect.poll(left).not.toBe(first);
    const pods = tab.getByRole("region", { name: "Change of media/secret/store" }).getByRole("img");
    expect(await pods.nth(1).getAttribute("aria-label")).toBe(
      "5 of 8 Pods with new content; 2 starting; 2 terminating",
    );
    const podList = resize.podList.map((pod) => ({ ...pod, content: "new", phase: "ready" }) as const);
    server.change({ workloads: { [resize.id]: { ...resize, podList } } });
    await expect.poll(() => pods.nth(1).getAttribute("aria-label")).toBe("8 of 8 Pods with new content");
    server.change({ changes: { soaking: { ...soakingChange, state: "complete", soakUntil: null, waitsFor: null } } });
    await expect.poll(() => soaking.locator("details").count()).toBe(1);
    expect(await soaking.locator(".batches").isVisible()).toBe(false);
    server.change({ changes: { soaking: null } });
    await soaking.waitFor({ state: "detached" });
  });

  it("opens from an object its readers, and what an edit would roll", async () => {
    await using page = await openPage(model, { place: "?view=rolling" });
    await page.tab.getByRole("link", { name: "configmap/common", exact: true }).click();
    const text = await page.tab.getByRole("region", { name: "Readers" }).innerText();
    expect(text).toContain("deployment/recommendations");
    expect(text).toContain("FEATURE_X, LOG_LEVEL");
    await page.tab.getByText("deployment/legacy-worker").waitFor();
  });
});

it("a workload shows each Pod with its proof, what it reads, what holds it, and its history", async () => {
  await using page = await openPage(model, { place: `?view=workload&id=${checkout.id}` });
  const text = await page.tab.locator("main").innerText();
  for (const part of [
    "Created before the last change",
    "containers[app].envFrom[0]",
    "complete in 24 s",
    "wave resume",
  ])
    expect(text).toContain(part);
  page.server.change({ workloads: { [checkout.id]: null } });
  await page.tab.getByText("No workload with this address is opted in.").waitFor();
});

describe("Timeline", () => {
  it("joins edits with the rollouts that they caused, zooms, and exports what it shows", async () => {
    await using page = await openPage(model, { place: "?view=timeline" });
    const { tab } = page;
    await tab.locator(".timeline a").first().waitFor();
    expect(await tab.locator(".timeline .lane > text").allTextContents()).toEqual(
      ["billing", "edge", "media", "search", "shop", "wave-system"].map((name) => `prod-east: ${name}`),
    );
    // One for each rollout, and one for the halt.
    expect(await tab.locator(".timeline .cause").count()).toBe(10);
    const count = () => tab.locator(".timeline a").count();
    const all = await count();
    await tab.getByRole("button", { name: "Zoom in" }).click();
    await tab.getByRole("button", { name: "Zoom in" }).click();
    await expect.poll(count).toBeLessThan(all);
    await tab.getByLabel("Namespace").selectOption("shop");
    await expect.poll(() => tab.locator(".timeline .lane").count()).toBe(1);
    const [download] = await Promise.all([
      tab.waitForEvent("download"),
      tab.getByRole("button", { name: "Export as JSON" }).click(),
    ]);
    const { entries } = JSON.parse(await readFile(await download.path(), "utf8"));
    expect(new Set(entries.map(({ namespace }: { readonly namespace: string }) => namespace))).toEqual(
      new Set(["shop"]),
    );
    expect(entries).toHaveLength(await count());
  });
});

it("Who must act shows approvals with keys and editor, holds with person and reason, and windows as a countdown", async () => {
  await using page = await openPage(model, { place: "?view=act" });
  const text = (name: string) => page.tab.getByRole("region", { name }).innerText();
  expect(await text("Approvals")).toMatch(/shop\/deployment\/cart\s+configmap\/cart PRICE_RULES, TAX_TABLE by alice/);
  expect(await text("Holds")).toMatch(/bob: month-end closing\s+secret\/ledger-db password by external-secrets/);
  expect(await text("Windows")).toMatch(/The window opens in (?:3h|1\d\dm)/);
});

describe("the connection", () => {
  it("is shown as lost when the stream ends, and comes back by itself with what changed meanwhile", async () => {
    await using page = await openPage(model);
    const { server, tab } = page;
    server.cut();
    await tab.getByText("The connection to wave ui is lost.").waitFor();
    server.change({ workloads: { [checkout.id]: null } });
    expect(await tab.locator(".row").count()).toBe(7);
    expect(await tab.title()).toBe("(7) Wave");
    server.resume();
    await tab.getByText("The connection to wave ui is lost.").waitFor({ state: "detached" });
    expect(await tab.locator(".row").count()).toBe(6);
    await tab.getByRole("status").getByText("6 workloads need you.").waitFor({ state: "attached" });
  });

  it("to a cluster is shown as lost, beside the others", async () => {
    await using page = await openPage(model);
    const lost = page.tab.getByRole("region", { name: "Context prod-west" });
    expect(await lost.innerText()).toMatch(/Lost: connect ECONNREFUSED 10\.2\.0\.1:6443\. Last read \d+m/);
    const west = model.clusters.west as Model["clusters"][string];
    page.server.change({ clusters: { west: { ...west, connection: { state: "connected", error: null } } } });
    await lost.getByText("Lost").waitFor({ state: "detached" });
  });
});

describe("every view", () => {
  it.each([false, true])("has no violation that axe-core finds; dark: %s", async (dark) => {
    await using page = await openPage(model, { dark });
    for (const place of places) {
      await page.goto(place);
      expect(await page.violations(), place).toEqual([]);
    }
  });

  it.each([320, 768, 3840])("is not wider than a screen of %s pixels", async (width) => {
    const name = "a".repeat(63);
    const long = { ...checkout, namespace: name, name: `${name}.${name}.${name}`, message: "b".repeat(500) };
    const workloads = { ...model.workloads, [long.id]: long };
    await using page = await openPage({ ...model, workloads }, { width });
    for (const place of places) {
      await page.goto(place);
      expect(await page.tab.evaluate("document.documentElement.scrollWidth"), place).toBe(width);
    }
  });

  it("works with the keyboard alone, and the focus is visible", async () => {
    await using page = await openPage(model);
    const { tab } = page;
    const focused = () => tab.evaluate("document.activeElement.textContent");
    await tab.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to the view");
    await tab.keyboard.press("Enter");
    for (
      let presses = 0;
      !(await tab.evaluate("document.activeElement.matches('.row a')")) && presses < 20;
      presses += 1
    )
      await tab.keyboard.press("Tab");
    expect(await focused()).toBe("shop/deployment/recommendations");
    expect(await tab.evaluate("getComputedStyle(document.activeElement).outlineWidth")).toBe("3px");
    await tab.keyboard.press("ArrowDown");
    await expect.poll(focused).toBe("shop/deployment/checkout");
    await tab.keyboard.press("End");
    await expect.poll(focused).toBe("search/deployment/ranker");
    await tab.keyboard.press("Enter");
    await expect.poll(focused).toBe("deployment/ranker");
    expect(await tab.evaluate("document.activeElement.tagName")).toBe("H1");
    await tab.goBack();
    await expect.poll(focused).toBe("Needs me");
    await page.goto("?view=timeline");
    const entry = tab.locator('.timeline a[tabindex="0"]');
    await entry.focus();
    const first = await tab.evaluate("document.activeElement.getAttribute('aria-label')");
    await tab.keyboard.press("ArrowRight");
    await expect.poll(() => tab.evaluate("document.activeElement.getAttribute('aria-label')")).not.toBe(first);
    await tab.keyboard.press("Enter");
    await expect.poll(() => tab.evaluate("document.activeElement.tagName")).toBe("H1");
  });

  it("moves nothing if the reader prefers reduced motion", async () => {
    await using page = await openPage(model, { place: "?view=rolling", reducedMotion: true });
    const transition = "getComputedStyle(document.querySelector('.pod.new rect')).transitionDuration";
    expect(await page.tab.evaluate(transition)).toBe("0s");
  });
});
