import { globSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
    const sidebar = pages.get("/")?.html ?? "";
    for (const path of globSync("docs/**/*.md", { cwd: root })) {
      const address = path === "docs/index.md" ? "/" : `/${path.replace(/\.md$/, "")}`;
      expect([...pages.keys()], path).toContain(address);
      // The list of decisions is collapsed until a reader opens it.
      if (address !== "/" && !address.startsWith("/docs/adr/")) expect(sidebar, path).toContain(`href="${address}"`);
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
    await browser.size(1280, 900);
    for (const name of ["annotations", "comparison", "errors", "events", "flags", "kinds", "metrics", "permissions"]) {
      await browser.open(`/docs/${name}`);
      const tables = "[...document.querySelectorAll('.vp-doc table')]";
      expect(await browser.evaluate(`${tables}.every((one) => one.scrollWidth <= one.clientWidth)`), name).toBe(true);
    }
    await browser.open("/");
    const found = await browser.search("partition");
    expect(found).toContain("/docs/rollouts");
    expect(browser.problems()).toEqual([]);
  });

  it("answers frequent questions within the first three search results", {
    timeout: 300_000,
  }, async (context) => {
    await using browser = await openSite(folder);
    if (browser === undefined) return context.skip("no Chromium on this machine");
    for (const [question, pages] of questions) {
      await browser.open("/");
      // The results of the previous search would be found first.
      await browser.evaluate("sessionStorage.clear()");
      await browser.open("/docs/faq");
      const found = await browser.search(question);
      expect(
        found.slice(0, 3).some((page) => pages.includes(page.replace("/docs/", ""))),
        `${question}: ${found.slice(0, 3)}`,
      ).toBe(true);
    }
  });
});

/** Questions from issues of Wave in Go and of Reloader, and the pages that answer them. */
const questions: readonly (readonly [string, readonly string[]])[] = [
  ["pod not restarted when configmap updated", ["faq", "troubleshooting"]],
  ["restart only once for configmap and secret", ["faq", "pacing"]],
  ["throttle mass rollout", ["faq", "pacing"]],
  ["delay before restart", ["faq", "pacing"]],
  ["maintenance window", ["annotations", "pacing"]],
  ["manual approval", ["faq", "annotations"]],
  ["notify without restart", ["faq", "notifications"]],
  ["exclude a secret", ["faq", "annotations"]],
  ["regex configmap name", ["faq", "compatibility"]],
  ["new deployment starts twice", ["faq", "webhooks"]],
  ["pods pending", ["troubleshooting"]],
  ["argocd out of sync", ["gitops"]],
  ["checksum/config", ["faq"]],
  ["Recreate strategy", ["faq", "rollouts"]],
  ["kubectl rollout undo", ["rollouts"]],
  ["cronjob", ["kinds", "rollouts"]],
  ["SIGHUP", ["faq"]],
  ["immutable configmap", ["faq"]],
  ["certificate renewal cert-manager", ["recipes"]],
  ["vault agent", ["recipes", "csi"]],
  ["secret deleted together with deployment", ["faq", "owner-references"]],
  ["Role instead of ClusterRole", ["faq", "permissions"]],
  ["forbidden cannot list configmaps", ["permissions", "troubleshooting", "errors"]],
  ["memory requirements", ["faq", "performance"]],
  ["uninstall", ["install"]],
];
