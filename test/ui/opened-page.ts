import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import type { Model } from "../../src/cli/ui/model.ts";
import { startChromium } from "../docs/chromium.ts";
import { type PageServer, servePage } from "./page-server.ts";

type Browser = NonNullable<Awaited<ReturnType<typeof startChromium>>>;
type Tab = Awaited<ReturnType<Browser["newPage"]>>;

/** How the page is opened. */
interface Opening {
  /** The query of the address. */
  readonly place?: string;
  readonly width?: number;
  readonly dark?: boolean;
  readonly reducedMotion?: boolean;
}

/** The page in one tab of Chromium. At the end it fails if the page threw, logged or left its address. */
export interface OpenedTab extends AsyncDisposable {
  readonly tab: Tab;
  /** Opens the page at a place. */
  readonly goto: (place: string) => Promise<void>;
  /** Returns what axe-core finds, one line for each violation. */
  readonly violations: () => Promise<readonly string[]>;
}

const axe = readFileSync(
  createRequire(join(import.meta.dirname, "../../ui/package.json")).resolve("axe-core/axe.min.js"),
  "utf8",
);

/** One Chromium for all tests of a file. Each tab has storage and permissions of its own. */
let browser: Browser | undefined;
afterAll(() => browser?.close());

/** Serves a model and opens the page. */
export async function openPage(
  model: Model,
  opening: Opening = {},
): Promise<OpenedTab & { readonly server: PageServer }> {
  const server = await servePage(model);
  const opened = await openTab(server.url, opening);
  const close = async () => {
    await opened[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
  return { ...opened, server, [Symbol.asyncDispose]: close };
}

/** Opens the page of a server. The suite needs Chromium, so a machine without one leaves it out. */
export async function openTab(url: string, opening: Opening = {}): Promise<OpenedTab> {
  const { place = "", width = 1280, dark = false, reducedMotion = false } = opening;
  browser ??= (await startChromium()) as Browser;
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: reducedMotion ? "reduce" : "no-preference",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const tab = await context.newPage();
  const problems: string[] = [];
  tab.on("pageerror", (error) => problems.push(String(error)));
  tab.on("console", (message) => {
    // Chromium reports each connection that the server ends.
    if (message.type() === "error" && !message.text().includes("net::ERR_")) problems.push(message.text());
  });
  tab.on("request", (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(url)) problems.push(request.url());
  });
  const goto = async (to: string) => {
    await tab.goto(url + to);
    await tab.locator("main h1").waitFor();
    await tab.getByText("Reading").waitFor({ state: "detached" });
  };
  await goto(place);
  return {
    tab,
    goto,
    violations: async () => {
      await tab.evaluate(axe);
      const found = (await tab.evaluate("axe.run()")) as {
        readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
      };
      return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
    },
    [Symbol.asyncDispose]: async () => {
      await context.close();
      expect(problems).toEqual([]);
    },
  };
}
