import { globSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../control-plane/wave-process.ts";
import { builtSearch } from "./built-search.ts";
import { type BuiltPage, buildSite, builtPages } from "./built-site.ts";
import { openSite } from "./chromium.ts";
import { root } from "./fences.ts";

describe("the site of the docs", () => {
  let folder: string;
  let pages: ReadonlyMap<string, BuiltPage>;
  beforeAll(async () => {
    folder = await buildSite();
    pages = builtPages(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("has every page of docs/, each also in its sidebar", () => {
    const sidebar = pages.get("/docs/quick-start")?.html ?? "";
    for (const path of globSync(["{docs,contributing}/**/*.md", "bench/README.md", "test/comparison.md"], {
      cwd: root,
    })) {
      const address = path === "docs/index.md" ? "/" : `/${path.replace(/\.md$/, "")}`;
      expect([...pages.keys()], path).toContain(address);
      // The list of decisions is collapsed until a reader opens it.
      if (address !== "/" && !address.startsWith("/contributing/adr/"))
        expect(sidebar, path).toContain(`href="${address}"`);
    }
  });

  it("has no link to a missing page or to a missing place in a page", () => {
    const dead: string[] = [];
    for (const { address, links } of pages.values()) {
      for (const link of links) {
        const [to = "", anchor] = link.split("#");
        const page = pages.get(to === "" ? "/" : to);
        if (page === undefined) dead.push(`${address}: ${link}`);
        else if (anchor !== undefined && anchor !== "" && !page.anchors.has(decodeURIComponent(anchor)))
          dead.push(`${address}: ${link}`);
      }
    }
    expect(dead).toEqual([]);
  });

  it("loads nothing from another host", () => {
    const others = [...pages.values()].flatMap(({ html }) => [
      ...html.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]+)"/g),
    ]);
    expect(others.map(([, url]) => url)).toEqual([]);
  });

  it("has a search index with the words of its pages", () => {
    const [index = ""] = globSync("assets/**/*localSearchIndex*.js", { cwd: folder });
    const text = readFileSync(join(folder, index), "utf8");
    for (const word of ["partition", "onDelete".toLowerCase(), "kustomize", "rolloutheld", "leaderelection"])
      expect(text.toLowerCase(), word).toContain(word);
  });

  it("finds a page in a browser, also dark and on a telephone, and no content is wider than the screen", async (context) => {
    await using browser = await openSite(folder);
    if (browser === undefined) return context.skip("no Chromium on this machine");
    await browser.size(390, 800);
    await browser.dark();
    await browser.open("/docs/pacing");
    expect(await browser.evaluate("document.documentElement.classList.contains('dark')")).toBe(true);
    for (const address of pages.keys()) {
      await browser.open(address);
      const wide = await browser.evaluate("document.documentElement.scrollWidth");
      expect(wide, address).toBeLessThanOrEqual(390);
    }
    const unbroken =
      "[...document.querySelectorAll('.vp-doc td code .unbroken')].map((one) => one.getClientRects().length)";
    await browser.open("/docs/on-call");
    expect(new Set((await browser.evaluate(unbroken)) as readonly number[])).toEqual(new Set([1]));
    await browser.open("/");
    const yaml =
      "[...document.querySelectorAll('.vp-doc .language-yaml pre')].map((one) => one.scrollWidth - one.clientWidth)";
    expect(await browser.evaluate(yaml)).toEqual([0]);
    await browser.size(1280, 900);
    for (const name of ["annotations", "comparison", "events", "flags", "kinds", "metrics", "security"]) {
      await browser.open(`/docs/${name}`);
      const tables = "[...document.querySelectorAll('.vp-doc table')]";
      expect(await browser.evaluate(`${tables}.every((one) => one.scrollWidth <= one.clientWidth)`), name).toBe(true);
    }
    await browser.open("/docs/on-call");
    const copied = `(() => {
      const block = document.querySelector(".language-console pre").cloneNode(true);
      for (const node of block.querySelectorAll(".vp-copy-ignore")) node.remove();
      return block.textContent;
    })()`;
    expect(await browser.evaluate(copied)).toBe('wave hold --cluster --reason "INC-12"');
    const open =
      "[...document.querySelectorAll('.VPSidebarItem.level-0:not(.collapsed) h2')].map((one) => one.textContent)";
    expect(await browser.evaluate(open)).toEqual(["On call"]);
    await browser.evaluate("document.querySelector('.VPNavBarMenu a[href=\"/docs/install\"]').click()");
    await until("one open section", async () =>
      String(await browser.evaluate(open)) === "For platform teams" ? true : undefined,
    );
    await browser.open("/");
    const found = await browser.search("partition");
    expect(found).toContain("/docs/rollouts");
    expect(browser.problems()).toEqual([]);
  });

  it("answers frequent questions within the first three search results", async () => {
    const search = await builtSearch(folder);
    const missed = questions
      .map(([question, pages]) => ({ question, pages, found: search(question).slice(0, 3) }))
      .filter(({ pages, found }) => !found.some((page) => pages.includes(page.replace("/docs/", ""))));
    expect(missed).toEqual([]);
  });
});

/** Questions from issues of Wave in Go and of Reloader, and of people at their goals, with the pages that answer them. */
const questions: readonly (readonly [string, readonly string[]])[] = [
  ["pod not restarted when configmap updated", ["opt-in", "troubleshooting"]],
  ["restart only once for configmap and secret", ["opt-in", "pacing"]],
  ["throttle mass rollout", ["pacing", "production"]],
  ["delay before restart", ["pacing"]],
  ["maintenance window", ["annotations", "pacing"]],
  ["manual approval", ["pacing", "annotations"]],
  ["notify without restart", ["pacing", "notifications"]],
  ["exclude a secret", ["opt-in", "annotations"]],
  ["regex configmap name", ["opt-in", "annotations"]],
  ["new deployment starts twice", ["opt-in", "webhooks"]],
  ["pods pending", ["troubleshooting", "webhooks"]],
  ["argocd out of sync", ["gitops"]],
  ["checksum/config", ["opt-in"]],
  ["Recreate strategy", ["rollouts"]],
  ["kubectl rollout undo", ["rollouts", "pinning"]],
  ["cronjob", ["kinds", "rollouts"]],
  ["SIGHUP", ["opt-in"]],
  ["immutable configmap", ["opt-in", "pinning"]],
  ["certificate renewal cert-manager", ["secret-operators"]],
  ["vault agent", ["secret-operators"]],
  ["secret deleted together with deployment", ["opt-in", "gitops"]],
  ["Role instead of ClusterRole", ["install", "security"]],
  ["forbidden cannot list configmaps", ["security", "troubleshooting", "events"]],
  ["memory requirements", ["production"]],
  ["uninstall", ["install", "pinning"]],
  ["stop every rollout emergency", ["on-call", "commands"]],
  ["avoid restart when opting in", ["opt-in"]],
  ["OOMKilled", ["production", "troubleshooting"]],
  ["reloader or wave which one", ["comparison", "migration"]],
  ["helm upgrade keep values", ["install"]],
  ["canary failed halted", ["pacing", "alerts", "on-call"]],
  ["slack message", ["notifications"]],
  ["pull request comment", ["gitops", "commands"]],
  ["node drained leader handover", ["production"]],
  ["statefulset stuck broken pod", ["rollouts"]],
  ["external secrets operator password rotation", ["secret-operators"]],
  ["annotation on pod template ignored", ["troubleshooting", "events", "opt-in"]],
  ["who can read my secrets", ["security"]],
  ["stolen token", ["security", "production"]],
  ["old pods still read the edit", ["pinning", "on-call", "troubleshooting"]],
  ["environment variable HTTPS_PROXY", ["install"]],
  ["argo rollouts", ["kinds"]],
  ["too many restarts loop", ["troubleshooting", "pacing", "annotations"]],
  ["install in one namespace only", ["install"]],
  ["what does it cost api server", ["production"]],
  ["scale deployment hpa", ["rollouts"]],
  ["paused deployment", ["rollouts", "troubleshooting"]],
  ["kubernetes versions supported", ["install"]],
  ["grafana dashboard", ["install", "metrics"]],
  ["remove finalizer terminating namespace", ["troubleshooting", "gitops", "events"]],
  ["subPath", ["opt-in", "concepts"]],
  ["optional configmap deleted", ["concepts", "commands"]],
  ["restart at once without canary", ["pacing"]],
  ["exit code of wave wait", ["commands"]],
  ["certificate of webhook expires", ["alerts", "webhooks"]],
  ["openshift", ["gitops", "comparison"]],
  ["configmap of another namespace", ["opt-in", "concepts", "annotations", "troubleshooting"]],
];
