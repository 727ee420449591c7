import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";
import { runWave } from "../../../test/support/cli/terminal.ts";
import { sourcesEnv } from "../../../test/support/sources-env.ts";

const sandbox = await startSandbox({ controllers: false });
afterAll(() => sandbox.close());

let scenes = 0;
/** A namespace with two workloads, and a `wave list -w` in its own process. */
async function scene(...args: readonly string[]) {
  const namespace = `watch-${++scenes}`;
  const cluster = commandScene(sandbox, namespace);
  await cluster.createNamespace(namespace);
  await cluster.createConfigMap("page", "1");
  for (const name of ["api", "web"]) await cluster.createWorkload(`deployments/${name}`);
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "../../main.ts"), "list", "-w", "-n", namespace, ...args],
    { stdio: ["ignore", "pipe", "pipe"], env: { ...sourcesEnv(), HOME: "/does/not/exist", ...cluster.env } },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  const closed = once(child, "close");
  const printed = async (stream: "out" | "err", text: RegExp) => {
    const has = () => text.test(stream === "out" ? out : err);
    await expect.poll(has, { timeout: 120_000 }).toBe(true);
  };
  /** Presses Ctrl-C, and returns the output. */
  const interrupt = async () => {
    child.kill("SIGINT");
    const [code, signal] = await closed;
    const lines = out.trimEnd().split("\n");
    return { code, signal, err, rows: lines.map((line) => line.split(/ {3,}/).slice(0, 2)) };
  };
  const hold = (value: string) =>
    cluster.merge("deployments/web", { metadata: { annotations: { "wave.pusher.com/hold": value } } });
  return { ...cluster, namespace, printed, interrupt, hold, closed, stderr: () => err };
}

describe("wave list -w", () => {
  it("prints the table, then each changed row, until Ctrl-C ends it as it ends kubectl", async () => {
    const { printed, interrupt, hold } = await scene("--max-concurrent-rollouts=0");
    await printed("out", /deployment\/web/);
    await hold("true");
    await printed("out", /held/);
    await hold("false");
    await printed("out", /held.*due/s);
    const ended = await interrupt();
    expect(ended).toMatchObject({ code: null, signal: "SIGINT", err: "" });
    expect(ended.rows).toEqual([
      ["NAME", "STATE"],
      ["deployment/api", "due"],
      ["deployment/web", "due"],
      ["deployment/web", "held"],
      ["deployment/web", "due"],
    ]);
  });

  it("survives an outage of the API server, which it reports in one line", async () => {
    const { printed, interrupt, hold, namespace } = await scene("--max-concurrent-rollouts=0");
    await printed("out", /deployment\/web/);
    const match = ({ path }: { readonly path: string }) => path.includes(`/${namespace}/`);
    sandbox.faults.add({ match, action: { type: "drop" } });
    sandbox.dropConnections();
    await printed("err", /warning: /);
    sandbox.faults.clear();
    await hold("true");
    await printed("out", /held/);
    const { rows } = await interrupt();
    expect(rows.map(([name, state]) => `${name} ${state}`)).toEqual([
      "NAME STATE",
      "deployment/api due",
      "deployment/web due",
      "deployment/web held",
    ]);
  });

  it("ends with 3 and one line if the permission to list is lost", async () => {
    const { printed, closed, namespace, stderr } = await scene();
    await printed("out", /deployment\/web/);
    const match = ({ path }: { readonly path: string }) => path.includes(`/${namespace}/`);
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const [code] = await closed;
    sandbox.faults.clear();
    expect(code).toBe(3);
    expect(stderr()).toMatch(/^error: list [^\n]*403[^\n]*\n$/m);
  });

  it("watches several clusters", async () => {
    const { printed, interrupt, hold } = await scene("--contexts=sandbox", "--max-concurrent-rollouts=0");
    await printed("out", /deployment\/web/);
    await hold("true");
    await printed("out", /held/);
    const { rows } = await interrupt();
    expect(rows).toEqual([
      ["CLUSTER", "NAME"],
      ["sandbox", "deployment/api"],
      ["sandbox", "deployment/web"],
      ["sandbox", "deployment/web"],
    ]);
  });

  it("rejects an output for programs", async () => {
    expect(await runWave(["list", "-w", "-ojson"])).toEqual({
      code: 2,
      out: "",
      err: "error: -w has no json output; use -o table or wide\n",
    });
  });
});
