import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { until } from "../control-plane/wave-process.ts";

/** A browser that looks at a built site. */
export interface Browser extends AsyncDisposable {
  readonly open: (address: string) => Promise<void>;
  readonly size: (width: number, height: number) => Promise<void>;
  /** Prefers dark colours from now on. */
  readonly dark: () => Promise<void>;
  /** The value of an expression in the page. */
  readonly evaluate: (expression: string) => Promise<unknown>;
  /** Searches as a person does, and resolves with the addresses that are found. */
  readonly search: (words: string) => Promise<readonly string[]>;
  /** Exceptions and errors that pages had. */
  readonly problems: () => readonly string[];
}

const programs = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Serves a built site on 127.0.0.1 and opens Chromium for it; undefined where the machine has none. */
export async function openSite(folder: string): Promise<Browser | undefined> {
  const program = programs.find((path) => existsSync(path));
  if (program === undefined) return undefined;
  const site = await serve(folder);
  const profile = mkdtempSync(join(tmpdir(), "wave-chromium-"));
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0"];
  const child = spawn(program, [...flags, `--user-data-dir=${profile}`, "about:blank"], { stdio: "ignore" });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const close = async () => {
    child.kill();
    await exited;
    site.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const portFile = join(profile, "DevToolsActivePort");
    // The file is there a moment before its first line.
    const port = await until(
      "Chromium to listen",
      async () => readFileSync(portFile, "utf8").split("\n")[0] || undefined,
    );
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as readonly Target[];
    const page = targets.find(({ type }) => type === "page");
    if (page === undefined) throw new Error("Chromium has no page");
    return await drive(await connect(page.webSocketDebuggerUrl), site.url, close);
  } catch (error) {
    await close();
    throw error;
  }
}

interface Target {
  readonly type: string;
  readonly webSocketDebuggerUrl: string;
}

type Send = (method: string, params?: object) => Promise<{ readonly result?: { readonly value?: unknown } }>;

interface Connection {
  readonly send: Send;
  readonly problems: string[];
}

/** https://chromedevtools.github.io/devtools-protocol/ */
async function connect(url: string): Promise<Connection> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  const waiting = new Map<number, (result: object) => void>();
  const problems: string[] = [];
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as { id?: number; method?: string; result?: object; params?: object };
    if (message.id !== undefined) waiting.get(message.id)?.(message.result ?? {});
    else if (message.method === "Runtime.exceptionThrown") problems.push(JSON.stringify(message.params));
  });
  let last = 0;
  const send: Send = (method, params = {}) =>
    new Promise((resolve) => {
      waiting.set(++last, resolve);
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  return { send, problems };
}

async function drive({ send, problems }: Connection, url: string, close: () => Promise<void>): Promise<Browser> {
  await send("Page.enable");
  await send("Runtime.enable");
  const evaluate = async (expression: string) =>
    (await send("Runtime.evaluate", { expression, returnByValue: true })).result?.value;
  const answer = (what: string, expression: string) =>
    until(what, async () => ((await evaluate(expression)) === true ? true : undefined));
  const key = (type: string) => send("Input.dispatchKeyEvent", { type, key: "k", code: "KeyK", modifiers: 2 });
  return {
    evaluate,
    problems: () => problems,
    size: async (width, height) => {
      const metrics = { width, height, deviceScaleFactor: 1, mobile: width < 600 };
      await send("Emulation.setDeviceMetricsOverride", metrics);
    },
    dark: async () => {
      await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: "dark" }] });
    },
    open: async (address) => {
      await send("Page.navigate", { url: url + address });
      const there = `location.pathname === ${JSON.stringify(address)} && document.readyState === "complete"`;
      await answer(`${address} to be there`, `${there} && document.querySelector("#app")?.__vue_app__ !== undefined`);
    },
    search: async (words) => {
      const field = "document.querySelector('.VPLocalSearchBox input')";
      await until("the field of the search", async () => {
        await key("rawKeyDown");
        await key("keyUp");
        return (await evaluate(`${field} !== null`)) === true ? true : undefined;
      });
      await evaluate(`${field}.focus()`);
      await send("Input.insertText", { text: words });
      const results = "[...document.querySelectorAll('.VPLocalSearchBox a.result')]";
      await answer("something to be found", `${results}.length > 0`);
      return (await evaluate(`${results}.map((link) => new URL(link.href).pathname)`)) as readonly string[];
    },
    [Symbol.asyncDispose]: close,
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
