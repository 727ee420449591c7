import { spawn } from "node:child_process";
import { once } from "node:events";
import { resourcePath, resources } from "../src/kube/api/resources.ts";
import { freePort, wave } from "../test/control-plane/wave-process.ts";
import { memoryOf } from "./memory.ts";
import { createDeployment, type Plane, quantile, startPlane, times } from "./plane.ts";
import { type ChangedTemplates, watchTemplates } from "./recorded-hashes.ts";

/** A controller to measure. */
interface Controller {
  readonly name: string;
  /** The path of its binary; undefined if no variable sets it. */
  readonly binary: string | undefined;
  /** As users start it. */
  readonly args: (kubeconfig: string, port: number) => readonly string[];
  /** What lets it write as fast as it can. */
  readonly unpaced: readonly string[];
}

const { WAVE_IN_GO, RELOADER } = process.env;

/** Build the peers yourself, from their own repositories: `go build` of the package in brackets. */
const controllers: readonly Controller[] = [
  {
    name: "Wave",
    binary: wave,
    args: (kubeconfig, port) => [
      ...["run", `--kubeconfig=${kubeconfig}`, "--log-level=warn"],
      ...[`--metrics-bind-address=127.0.0.1:${port}`, "--health-probe-bind-address=0"],
    ],
    unpaced: ["--update-rate=unlimited", "--settle=0", "--max-concurrent-rollouts=0"],
  },
  {
    name: "Wave in Go (`WAVE_IN_GO`: ./cmd/manager)",
    binary: WAVE_IN_GO,
    args: (kubeconfig) => [`--kubeconfig=${kubeconfig}`],
    unpaced: ["--update-rate=100000", "--update-burst=100000"],
  },
  {
    name: "Reloader (`RELOADER`: .)",
    binary: RELOADER,
    args: () => ["--auto-reload-all", "--log-level=error"],
    unpaced: [],
  },
];

/** Milliseconds until a watch shows the last Deployment changed, medians; MiB with everything there. */
export interface PeerFigures {
  readonly name: string;
  readonly oneEdit: number;
  readonly fanOut: number;
  readonly resident: number;
  readonly peak: number;
  /** Changes of one pod template in the 10 s after 100 edits in 5 s of what it reads. */
  readonly rolls: number;
}

const namespace = "peers";
const size = { secrets: 2_000, workloads: 800, readAll: 500 };

/** Each controller alone, on a server of its own with the same objects; undefined where one is left out, which is said. */
export async function measurePeers(say: (line: string) => void): Promise<readonly PeerFigures[] | undefined> {
  const missing = controllers.filter(({ binary }) => binary === undefined);
  for (const { name } of missing) say(`nothing is measured, because its variable names no binary: ${name}`);
  if (missing.length > 0) return undefined;
  const figures: PeerFigures[] = [];
  for (const controller of controllers) {
    figures.push({ name: controller.name, ...(await measure(controller, controller.binary ?? "")) });
  }
  return figures;
}

async function measure(controller: Controller, binary: string): Promise<Omit<PeerFigures, "name">> {
  const plane = await startPlane([namespace]);
  await fill(plane, size);
  const { edit, templates, stop } = await start(plane, controller, binary, controller.unpaced);
  const one: number[] = [];
  for (let round = 0; round < 300; round++) one.push(await took(templates, 1, () => edit("own-0")));
  const all: number[] = [];
  for (let round = 0; round < 5; round++) {
    all.push(await took(templates, size.readAll, () => edit("all")));
    await quiet(templates, 1_000);
  }
  const { resident, peak } = await stop();
  return {
    oneEdit: quantile(one, 0.5),
    fanOut: quantile(all, 0.5),
    resident,
    peak,
    rolls: await countRolls(controller, binary),
  };
}

/** Of one Deployment with a Pod, which other controllers act on. */
async function countRolls(controller: Controller, binary: string): Promise<number> {
  const plane = await startPlane([namespace], { workloads: true });
  await fill(plane, { secrets: 1, workloads: 1, readAll: 0 }, 1);
  const { edit, templates, stop } = await start(plane, controller, binary, []);
  // Long enough that the previous rollout does not hold the next one.
  await quiet(templates, 30_000);
  const before = templates.changes();
  for (let edits = 0; edits < 100; edits++) {
    await edit("own-0");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await quiet(templates, 15_000);
  const rolls = templates.changes() - before;
  await stop();
  return rolls;
}

/** Starts a controller, and resolves when it rolls what is edited and has nothing else to do. */
async function start(plane: Plane, controller: Controller, binary: string, flags: readonly string[]) {
  const templates = await watchTemplates(plane.client, namespace);
  const args = [...controller.args(plane.jsonKubeconfig, await freePort()), ...flags];
  const child = spawn(binary, args, { stdio: "ignore", env: { ...process.env, KUBECONFIG: plane.jsonKubeconfig } });
  const exited = once(child, "exit");
  const whereItEnds = (...[code, signal]: unknown[]) => {
    throw new Error(`${controller.name} ended by itself, with ${code ?? signal}: ${[binary, ...args].join(" ")}`);
  };
  child.on("exit", whereItEnds);
  const stop = async () => {
    const memory = memoryOf(child.pid ?? 0);
    child.off("exit", whereItEnds);
    // The next one listens on the same ports.
    child.kill("SIGKILL");
    await exited;
    templates.stop();
    await plane.stop();
    return memory;
  };
  let value = 0;
  const edit = async (name: string) => {
    const path = resourcePath(resources.configMaps, { namespace, name });
    await plane.client.request({ method: "PATCH", path, body: { data: { a: String(++value) } } });
  };
  // Those that write first hashes are done with them by then.
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  await quiet(templates, 3_000);
  await took(templates, 1, () => edit("own-0"));
  return { edit, templates, stop };
}

/** Each Deployment reads a ConfigMap of its own and a Secret, and some read one ConfigMap together. */
async function fill({ client }: Plane, { secrets, workloads, readAll }: typeof size, replicas = 0): Promise<void> {
  const create = (resource: "configMaps" | "secrets", name: string, data: Record<string, string>) =>
    client.request({
      method: "POST",
      path: resourcePath(resources[resource], { namespace }),
      body: { metadata: { name }, data },
    });
  const blob = Buffer.alloc(4096, "x").toString("base64");
  await create("configMaps", "all", { a: "0" });
  await times(secrets, 32, (index) => create("secrets", `secret-${index}`, { blob }));
  await times(workloads, 32, async (index) => {
    await create("configMaps", `own-${index}`, { a: "0" });
    const more = index > 0 && index <= readAll ? "all" : `own-${index}`;
    const reads = { configMap: more, secret: `secret-${index}` };
    await createDeployment(client, namespace, `app-${index}`, reads, { replicas });
  });
}

async function took(templates: ChangedTemplates, count: number, act: () => Promise<void>): Promise<number> {
  const changed = templates.changed(count);
  const begin = performance.now();
  await act();
  const late = setTimeout(() => {
    throw new Error("the controller has rolled nothing for two minutes: does it start with these flags?");
  }, 120_000);
  try {
    return (await changed) - begin;
  } finally {
    clearTimeout(late);
  }
}

/** Resolves when nothing was changed for so long. */
async function quiet(templates: ChangedTemplates, ms: number): Promise<void> {
  for (let seen = -1; seen !== templates.changes(); ) {
    seen = templates.changes();
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}
