import { expect, it } from "vitest";
import type { Model } from "../../src/cli/ui/model.ts";
import { openPage } from "./opened-page.ts";
import { largeModel } from "./recorded-model.ts";

const model = largeModel(Date.now(), 5000, 300);

/** One frame at 60 frames a second, in milliseconds. */
const frameMs = 1000 / 60;

it("scrolls through 5,000 rows with less than a frame of CPU time for each step, and keeps few of them in the page", async () => {
  await using page = await openPage(model, { place: "?view=workloads" });
  const { tab } = page;
  const session = await tab.context().newCDPSession(tab);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const taskMs = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
  };
  const steps = 200;
  const before = await taskMs();
  const most = await tab.evaluate(`(async () => {
    let rows = 0;
    for (let step = 0; step < ${steps}; step += 1) {
      scrollBy(0, 400);
      await new Promise(requestAnimationFrame);
      rows = Math.max(rows, document.querySelectorAll(".row").length);
    }
    return rows;
  })()`);
  expect((await taskMs()) - before).toBeLessThan(steps * frameMs);
  expect(most).toBeLessThan(120);
  await tab.evaluate("scrollTo(0, document.body.scrollHeight)");
  const last = tab.locator(".row").last();
  await expect.poll(() => last.getAttribute("aria-posinset")).toBe("5000");
  expect(await last.innerText()).toContain("team-299");
});

it("keeps the row with the focus in the page, and moves by keys through all rows", async () => {
  await using page = await openPage(model, { place: "?view=workloads" });
  const { tab } = page;
  const position = () => tab.evaluate("document.activeElement.closest('.row')?.ariaPosInSet");
  await tab.locator(".row a").first().focus();
  await tab.evaluate("scrollTo(0, 100000)");
  await expect.poll(() => tab.locator(".row").count()).toBeGreaterThan(1);
  expect(await position()).toBe("1");
  await tab.keyboard.press("ArrowDown");
  await expect.poll(position).toBe("2");
  await tab.keyboard.press("End");
  await expect.poll(position).toBe("5000");
  await tab.keyboard.press("Home");
  await expect.poll(position).toBe("1");
});

it("needs no more memory after 1,000 differences", async () => {
  await using page = await openPage(model);
  const { server, tab } = page;
  const session = await tab.context().newCDPSession(tab);
  const rows = Object.values(model.workloads);
  const play = async (from: number) => {
    for (let index = from; index < from + 500; index += 1) {
      const row = rows[(index * 7) % rows.length] as Model["workloads"][string];
      server.change({ workloads: { [row.id]: { ...row, message: `Difference ${index}.` } } });
    }
    const last = rows[0] as Model["workloads"][string];
    server.change({ workloads: { [last.id]: { ...last, message: `Played ${from}.` } } });
    await tab.getByText(`Played ${from}.`).waitFor();
    await session.send("HeapProfiler.collectGarbage");
    return (await session.send("Runtime.getHeapUsage")).usedSize;
  };
  const first = await play(0);
  expect(await play(500)).toBeLessThan(first * 1.2);
});
