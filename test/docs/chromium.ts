import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { until } from "../control-plane/wave-process.ts";

/** A browser that shows a built site. */
export interface Browser extends AsyncDisposable {
  readonly open: (address: string) => Promise<void>;
  readonly size: (width: number, height: number) => Promise<void>;
  /** Prefers dark colours from now on. */
  readonly dark: () => Promise<void>;
  /** Returns the value of an expression in the page. */
  readonly evaluate: (expression: string) => Promise<unknown>;
  /** Searches like a person. Resolves to the addresses of the results. */
  readonly search: (words: string) => Promise<readonly string[]>;
  /** Returns the exceptions that pages threw. */
  readonly problems: () => readonly string[];
}

const programs = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Undefined if this machine has a browser; otherwise one line with what is missing. */
export function missingChromium(): string | undefined {
  return programs.some((path) => existsSync(path)) ? undefined : "no Chromium; test/docs/install gets it from Debian";
}

/** Starts Chromium; undefined if the machine has none. */
export async function startChromium() {
  const path = programs.find((each) => existsSync(each));
  if (path === undefined) return undefined;
  const { launchChromium } = await import("../../ui/browser.ts");
  return await launchChromium(path);
}

/** Serves a built site on 127.0.0.1 and opens Chromium for it; undefined if the machine has none. */
export async function openSite(folder: string): Promise<Browser | undefined> {
  const browser = await startChromium();
  if (browser === undefined) return undefined;
  const site = await serve(folder);
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  return {
    evaluate: (expression) => page.evaluate(expression),
    problems: () => problems,
    size: (width, height) => page.setViewportSize({ width, height }),
    dark: () => page.emulateMedia({ colorScheme: "dark" }),
    open: async (address) => {
      await page.goto(site.url + address);
      await page.waitForFunction('document.querySelector("#app")?.__vue_app__ !== undefined');
    },
    search: async (words) => {
      const field = "document.querySelector('.VPLocalSearchBox input') !== null";
      await until("the field of the search", async () => {
        await page.keyboard.press("Control+k");
        return (await page.evaluate(field)) === true ? true : undefined;
      });
      await page.locator(".VPLocalSearchBox input").fill(words);
      await page.locator(".VPLocalSearchBox a.result").first().waitFor();
      const links = "[...document.querySelectorAll('.VPLocalSearchBox a.result')]";
      return (await page.evaluate(`${links}.map((link) => new URL(link.href).pathname)`)) as readonly string[];
    },
    [Symbol.asyncDispose]: async () => {
      await browser.close();
      site.close();
    },
  };
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

async function serve(folder: string): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer(({ url = "/" }, response) => {
    const path = decodeURIComponent(url.replace(/[?#].*/, ""));
    const file = [path, `${path}.html`, `${path}/index.html`]
      .map((name) => join(folder, name))
      .find((name) => existsSync(name) && statSync(name).isFile());
    if (file === undefined) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" });
    response.end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}
