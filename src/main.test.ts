import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { sourcesEnv } from "../test/support/sources-env.ts";

const main = join(import.meta.dirname, "main.ts");

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A `wave` of its own process, on the sources, with nothing in its environment that a test does not put there. */
function start(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...sourcesEnv(), HOME: "/does/not/exist", ...env },
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve) => child.once("close", (code) => resolve({ code, out, err })));
  /** The first line of its log that holds this text. */
  const logged = async (text: string): Promise<string> => {
    while (child.stderr.readable) {
      const line = err
        .split("\n")
        .slice(0, -1)
        .find((each) => each.includes(text));
      if (line !== undefined) return line;
      await Promise.race([once(child.stderr, "data"), ended]);
    }
    throw new Error(`it ended without a word of "${text}": ${err}`);
  };
  return { child, ended, logged };
}

async function freePort(): Promise<number> {
  await using server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** A kubeconfig of an API server that does not exist. */
function unreachable(): string {
  const file = join(mkdtempSync(join(tmpdir(), "wave-main-")), "kubeconfig");
  const config = {
    clusters: [{ name: "a", cluster: { server: "http://127.0.0.1:1" } }],
    users: [{ name: "a", user: {} }],
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    "current-context": "a",
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** An environment in which Node runs this before main.ts. */
function preloading(script: string): NodeJS.ProcessEnv {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

const wave = (args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended> => start(args, env).ended;

describe("wave", () => {
  it.each([[[]], [["help"]], [["--help"]], [["-h"]]])("shows its commands for %j", async (args) => {
    const { code, out, err } = await wave(args);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^Usage: wave COMMAND \[flags\]$/m);
    expect(out).toMatch(/^ {2}run {2,}Run the controller$/m);
  });

  it.each([[["help", "run"]], [["run", "--help"]], [["run", "-h", "--nonsense"]]])(
    "shows the flags of run for %j",
    async (args) => {
      const { code, out, err } = await wave(args);
      expect([code, err]).toEqual([0, ""]);
      expect(out).toMatch(/^Usage: wave run/m);
      expect(out).toContain("--observe");
      expect((await wave(["run", "--help-all"])).out).toContain("--metrics-bind-address");
    },
  );

  it.each([[["version"]], [["--version"]], [["run", "--version"]]])("shows its version for %j", async (args) => {
    expect(await wave(args)).toEqual({ code: 0, out: expect.stringMatching(/^wave \d+\.\d+\.\d+\n$/), err: "" });
  });

  it.each([
    { args: ["rnu"], says: 'error: unknown command "rnu"; did you mean run?\n' },
    { args: ["help", "deploy"], says: 'error: unknown command "deploy"; wave help lists all commands\n' },
    { args: ["constructor"], says: 'error: unknown command "constructor"; wave help lists all commands\n' },
    { args: ["run", "--update-rat=1"], says: 'error: unknown flag "--update-rat"; did you mean --update-rate?\n' },
  ])("ends with exit code 2 and one line for $args", async ({ args, says }) => {
    expect(await wave(args)).toEqual({ code: 2, out: "", err: says });
  });

  it("ends with exit code 2 and the path of the field for a mistake in the file of --notify", async () => {
    const kubeconfig = unreachable();
    const file = join(dirname(kubeconfig), "notify.yaml");
    writeFileSync(file, "receivers: [{name: a, type: slack, url: https://a.example/s3cr3t, outcomes: [rolls]}]");
    const { code, err } = await wave(["run", `--notify=${file}`, `--kubeconfig=${kubeconfig}`]);
    expect(code).toBe(2);
    expect(err).toMatch(
      /^error: --notify: \S+notify\.yaml: receivers\[0\]\.outcomes contains "rolls"; use "\*", roll, .*\n$/,
    );
    expect(err).not.toContain("s3cr3t");
  });

  it("names the environment variable that is wrong", async () => {
    const { code, err } = await wave(["run"], { WAVE_SYNC_PERIOD: "often" });
    expect(code).toBe(2);
    expect(err).toMatch(/^error: invalid WAVE_SYNC_PERIOD: "often"; use a duration .*\n$/);
  });

  it("shows a bug as one line and its stack, with an exit code of its own", async () => {
    const { code, err } = await wave(["version"], preloading('process.stdout.write=()=>{throw new Error("boom")}'));
    expect(code).toBe(70);
    expect(err).toMatch(/^error: bug in Wave: boom\nError: boom\n {4}at .*\n/);
  });

  it("is quiet when nobody reads its output any more", async () => {
    // Continues briefly after its output, so that it notices the closed pipe.
    const slow = preloading("const exit=process.exit;process.exit=(code)=>{setTimeout(()=>exit(code),50)}");
    const { child, ended } = start(["help", "run"], slow);
    child.stdout.destroy();
    expect(await ended).toMatchObject({ code: 0, err: "" });
  });
});

describe("wave run", () => {
  it("ends with exit code 2 and one line where the kubeconfig cannot be read, as for every bad value", async () => {
    const { code, err } = await wave(["run", "--kubeconfig=/does/not/exist", "--log-format=text"]);
    expect(code).toBe(2);
    expect(err).toMatch(/^error: [^\n]*\/does\/not\/exist[^\n]*\n$/);
  });

  it("ends with exit code 1 and one line that names the flag where a port is in use", async () => {
    await using server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { code, err } = await wave(
      ["run", `--metrics-bind-address=127.0.0.1:${port}`, "--health-probe-bind-address=0", "--log-level=error"],
      { KUBECONFIG: unreachable() },
    );
    expect(code).toBe(1);
    expect(JSON.parse(err)).toMatchObject({
      level: "error",
      msg: `cannot listen on 127.0.0.1:${port}: the port is in use (--metrics-bind-address)`,
    });
  });

  it("goes on trying an API server that cannot be reached, says why in log and /readyz, and stops on SIGTERM", async () => {
    const port = await freePort();
    const args = ["run", "--metrics-bind-address=0", `--health-probe-bind-address=127.0.0.1:${port}`];
    // Node's own fetch client, which importing node:http loads too, costs 13 MiB.
    const tellsOfUndici = preloading(
      'process.on("exit",()=>process.stdout.write(process.moduleLoadList.filter((name)=>/undici/.test(name)).join()))',
    );
    const { child, ended, logged } = start(args, { KUBECONFIG: unreachable(), ...tellsOfUndici });
    const trying = await logged("cannot reach");
    const probe = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return [response.status, await response.text()];
    };
    expect(JSON.parse(trying)).toMatchObject({ level: "error", msg: expect.stringContaining("http://127.0.0.1:1") });
    expect(await probe("/healthz")).toEqual([200, "ok"]);
    expect(await probe("/readyz")).toEqual([
      503,
      expect.stringMatching(/^api-server: .*cannot reach .*ECONNREFUSED.*\ncaches: the caches are not synced\n$/),
    ]);
    child.kill("SIGTERM");
    const { code, out, err } = await ended;
    expect([code, out]).toEqual([0, ""]);
    expect(
      err
        .trimEnd()
        .split("\n")
        .slice(-2)
        .map((line) => JSON.parse(line).msg),
    ).toEqual(["stopping", "stopped"]);
  });

  it("ends at once on a second signal, with the exit code of that signal", async () => {
    const args = ["run", "--metrics-bind-address=0", "--health-probe-bind-address=127.0.0.1:0"];
    // What is to end never does.
    const stuck = preloading("AsyncDisposableStack.prototype.defer=function(){this.adopt(0,()=>new Promise(()=>{}))}");
    const { child, ended, logged } = start(args, { KUBECONFIG: unreachable(), ...stuck });
    await logged("cannot reach");
    child.kill("SIGTERM");
    await logged("stopping");
    child.kill("SIGINT");
    const { code, err } = await ended;
    expect(code).toBe(130);
    expect(JSON.parse(err.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({ level: "warn", signal: "SIGINT" });
  });
});

it("waits for the handshake of one address of a name for longer than a slow link or a lost packet takes", async () => {
  const print =
    "import('node:net').then(n=>process.once('exit',()=>console.log(n.getDefaultAutoSelectFamilyAttemptTimeout())))";
  const { out } = await start(["list"], { KUBECONFIG: unreachable(), ...preloading(print) }).ended;
  expect(Number(out)).toBeGreaterThan(1_500);
});

// Only root may change its user ID.
describe.runIf(process.getuid?.() === 0)("a user ID without a home directory", () => {
  const withoutHome = (env: NodeJS.ProcessEnv) =>
    start(["list", "-A"], { HOME: undefined, ...preloading("process.setgid(54321); process.setuid(54321)"), ...env })
      .ended;

  it("runs a command with the kubeconfig of KUBECONFIG", async () => {
    const KUBECONFIG = unreachable();
    for (const each of [dirname(KUBECONFIG), dirname(dirname(KUBECONFIG))]) chmodSync(each, 0o755);
    const { code, err } = await withoutHome({ KUBECONFIG });
    expect(code, err).toBe(3);
    expect(err).toMatch(/^error: [^\n]*ECONNREFUSED[^\n]* \(context a of [^\n]*\)\n$/);
  });

  it("gets one line that names the missing home directory without KUBECONFIG", async () => {
    expect(await withoutHome({})).toEqual({
      code: 2,
      out: "",
      err: "error: no cluster configured: $KUBECONFIG is not set, Wave does not run in a Pod, and the user has no home directory; set --kubeconfig FILE\n",
    });
  });
});
