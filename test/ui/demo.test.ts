import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { root } from "../docs/fences.ts";
import { openTab } from "./opened-page.ts";

/** As long as the changes of the demo take on a very busy machine, in milliseconds. */
const patience = 240_000;

it("wave demo --ui shows a change that rolls, one that is halted, who must act, and that the server is gone", async () => {
  const demo = spawn(join(root, "bin/wave"), ["demo", "--ui"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    let url = "";
    for await (const line of createInterface({ input: demo.stdout })) {
      url = /http:\/\/127\.0\.0\.1:\d+\/[\w-]+\//.exec(line)?.[0] ?? "";
      if (url !== "") break;
    }
    await using page = await openTab(url, { place: "?view=rolling" });
    const { tab } = page;
    tab.setDefaultTimeout(patience);

    const change = tab.getByRole("region", { name: "Change of shop/configmap/common" });
    await change.getByText("by argocd-controller").waitFor();
    await change.getByText("All others wait for").waitFor();
    await change.locator("details").waitFor();
    expect(await change.innerText()).toMatch(/complete[\s\S]*common[\s\S]*FEATURE_X[\s\S]*5 workloads/);

    const failure = change.locator(".failure");
    await failure.waitFor();
    expect(await change.innerText()).toMatch(/halted[\s\S]*LOG_LEVEL[\s\S]*by helm/);
    expect(await failure.innerText()).toMatch(/container app, CrashLoopBackOff, exit code 1/);
    expect(await failure.innerText()).toMatch(/kubectl logs -n shop [a-z0-9-]+ -c app --previous/);
    expect(await change.getByRole("img", { name: /failed/ }).count()).toBe(1);
    expect(await page.violations()).toEqual([]);

    await tab.getByRole("link", { name: "configmap/common" }).click();
    await tab.getByRole("region", { name: "Readers" }).getByRole("link", { name: "deployment/catalog" }).click();
    await tab.getByText("spec.template.spec.containers[0].envFrom[0].configMapRef").first().waitFor();
    expect(await page.violations()).toEqual([]);

    await tab.getByRole("link", { name: /^Needs me/ }).click();
    const rows = tab.locator(".row");
    await rows.filter({ hasText: "mail/deployment/sender" }).getByText('Waiting for ConfigMap "smtp".').waitFor();
    await tab.getByRole("button", { name: "Copy: wave approve deployment/ledger -n pay" }).waitFor();

    await tab.getByRole("link", { name: /^Who must act/ }).click();
    const holds = tab.getByRole("region", { name: "Holds" });
    await holds.getByText("INC-12: end of the month").waitFor();
    expect(await holds.innerText()).toContain("configmap/rates");

    demo.kill("SIGINT");
    await tab.getByText("The connection to wave ui is lost.").waitFor();
  } finally {
    demo.kill("SIGINT");
    if (demo.exitCode === null) await once(demo, "exit");
  }
});
