import { resourcePath, resources } from "../src/kube/api/resources.ts";
import { readAuditLog } from "../test/control-plane/control-plane.ts";
import { type Controller, controllers, type RunningController, startController } from "./peer-controllers.ts";
import { createDeployment, type Plane, quantile, startPlane, times } from "./plane.ts";
import { type ChangedTemplates, watchTemplates } from "./recorded-hashes.ts";

/** The figures of one controller in one cluster. Times are medians in milliseconds, memory is in MiB. */
export interface PeerFigures {
  readonly name: string;
  /** Workloads beside the one that is edited. */
  readonly others: number;
  /** From sending the edit until a watch shows the changed pod template. */
  readonly oneEdit: number;
  /** The same for a ConfigMap that 500 Deployments read; undefined in smaller clusters. */
  readonly fanOut: number | undefined;
  /** Processor time in seconds from the start until the first hashes are written. */
  readonly startSeconds: number;
  /** Requests in this time that read: GETs and lists. */
  readonly startReads: number;
  readonly resident: number;
  readonly peak: number;
}

const namespace = "peers";
const secrets = 2_000;
const readAll = 500;
const edits = 300;
const fanOuts = 5;

interface Contestant {
  readonly controller: Controller;
  readonly plane: Plane;
  readonly templates: ChangedTemplates;
  readonly running: RunningController;
  readonly startSeconds: number;
  readonly startReads: number;
  readonly edit: (name: string) => Promise<void>;
}

/** Returns the controllers with these names; undefined, and reports it, if a variable names no binary. */
export function availableControllers(
  names: readonly Controller["name"][],
  say: (line: string) => void,
): readonly Controller[] | undefined {
  const named = controllers.filter(({ name }) => names.includes(name));
  const missing = named.filter(({ binary }) => binary === undefined);
  for (const { variable, source } of missing)
    say(`nothing is measured: set ${variable} to a binary built from ${source}`);
  return missing.length > 0 ? undefined : named;
}

/**
 * Measures controllers in turns: each has a server of its own with the same objects, and only one of them is edited at a
 * time. So other load on the machine adds to the times of all of them.
 */
export async function measurePeers(measured: readonly Controller[], others: number): Promise<readonly PeerFigures[]> {
  const contestants: Contestant[] = [];
  try {
    for (const controller of measured) contestants.push(await enter(controller, others + 1));
    const one = new Map(contestants.map((each) => [each, [] as number[]]));
    for (let round = 0; round < edits; round++)
      for (const each of contestants)
        if (round < each.controller.mostEdits) one.get(each)?.push(await took(each, 1, "own-0"));
    const all = new Map(contestants.map((each) => [each, [] as number[]]));
    for (let round = 0; round < fanOuts && others > readAll; round++)
      for (const each of contestants) {
        if (round >= each.controller.mostFanOuts) continue;
        all.get(each)?.push(await took(each, readAll, "all"));
        await quiet(each.templates, 1_000);
      }
    return contestants.map((each) => ({
      name: each.controller.name,
      others,
      oneEdit: quantile(one.get(each) ?? [], 0.5),
      fanOut: others > readAll ? quantile(all.get(each) ?? [], 0.5) : undefined,
      startSeconds: each.startSeconds,
      startReads: each.startReads,
      ...each.running.memory(),
    }));
  } finally {
    for (const { running, templates, plane } of contestants) {
      await running.kill();
      templates.stop();
      await plane.stop();
    }
  }
}

/** Returns how often a Deployment with a Pod was rolled for 100 edits in 5 s, with default settings. */
export async function countRolls(controller: Controller): Promise<number> {
  const plane = await startPlane([namespace], { workloads: true });
  await fill(plane, { secrets: 1, workloads: 1, readAll: 0 }, 1);
  const templates = await watchTemplates(plane.client, namespace);
  const running = await startController(controller, plane, []);
  try {
    const edit = editor(plane);
    await firstHashesWritten(templates);
    await took({ templates, edit }, 1, "own-0");
    // Long enough that the previous rollout does not hold the next one.
    await quiet(templates, 30_000);
    const before = templates.changes();
    for (let edits = 0; edits < 100; edits++) {
      await edit("own-0");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await quiet(templates, 15_000);
    return templates.changes() - before;
  } finally {
    await running.kill();
    templates.stop();
    await plane.stop();
  }
}

/** Starts a controller beside its own server, and resolves when the controller has nothing else to do. */
async function enter(controller: Controller, workloads: number): Promise<Contestant> {
  const plane = await startPlane([namespace]);
  await fill(plane, { secrets, workloads, readAll: workloads > readAll ? readAll : 0 });
  const templates = await watchTemplates(plane.client, namespace);
  const running = await startController(controller, plane, controller.unpaced);
  await firstHashesWritten(templates);
  const startSeconds = running.cpuSeconds();
  const startReads = readAuditLog(plane.auditLog).filter(
    ({ userAgent, verb }) => userAgent !== "bench" && (verb === "get" || verb === "list"),
  ).length;
  const contestant = { controller, plane, templates, running, startSeconds, startReads, edit: editor(plane) };
  for (let warmUp = 0; warmUp < 20; warmUp++) await took(contestant, 1, "own-0");
  return contestant;
}

/** Some controllers write a first hash of each workload, others do not. */
async function firstHashesWritten(templates: ChangedTemplates): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  await quiet(templates, 3_000);
}

function editor({ client }: Plane): (name: string) => Promise<void> {
  let value = 0;
  return async (name) => {
    const path = resourcePath(resources.configMaps, { namespace, name });
    await client.request({ method: "PATCH", path, body: { data: { a: String(++value) } } });
  };
}

/** Each Deployment reads a ConfigMap of its own and a Secret, and some read one ConfigMap together. */
async function fill(
  { client }: Plane,
  size: { readonly secrets: number; readonly workloads: number; readonly readAll: number },
  replicas = 0,
): Promise<void> {
  const create = (resource: "configMaps" | "secrets", name: string, data: Record<string, string>) =>
    client.request({
      method: "POST",
      path: resourcePath(resources[resource], { namespace }),
      body: { metadata: { name }, data },
    });
  const blob = Buffer.alloc(4096, "x").toString("base64");
  await create("configMaps", "all", { a: "0" });
  await times(size.secrets, 32, (index) => create("secrets", `secret-${index}`, { blob }));
  await times(size.workloads, 32, async (index) => {
    await create("configMaps", `own-${index}`, { a: "0" });
    const configMap = index > 0 && index <= size.readAll ? "all" : `own-${index}`;
    const reads = { configMap, secret: `secret-${index % size.secrets}` };
    await createDeployment(client, namespace, `app-${index}`, reads, { replicas });
  });
}

/** Edits a ConfigMap and returns the milliseconds until `count` pod templates have changed. */
async function took(
  { templates, edit }: Pick<Contestant, "templates" | "edit">,
  count: number,
  name: string,
): Promise<number> {
  const changed = templates.changed(count);
  const begin = performance.now();
  await edit(name);
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
