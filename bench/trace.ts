import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { resourcePath, resources } from "../src/kube/api/resources.ts";
import { type AuditEvent, readAuditLog } from "../test/control-plane/control-plane.ts";
import { freePort, until } from "../test/control-plane/wave-process.ts";
import { createDeployment, type Plane, quantile, startPlane, times } from "./plane.ts";
import { watchHashes } from "./recorded-hashes.ts";
import type { Mark } from "./trace-marks.ts";
import { waveEnv, waveFlags } from "./wave-node.ts";

/** The time that one step of an edit takes, in milliseconds. */
export interface TraceStep {
  readonly step: string;
  readonly p50: number;
  readonly p99: number;
}

const namespace = "trace";
const root = join(import.meta.dirname, "..");

/** The points that an edit passes, in this order, and the step that ends at each. Points of the API server are from its audit log. */
const points = [
  { point: "editReceived", step: "" },
  { point: "read", step: "the API server stores the edit; Wave reads the bytes of the watch event" },
  { point: "parsed", step: "Wave parses the event" },
  { point: "stored", step: "Wave computes the digests" },
  { point: "queued", step: "Wave compares the object and finds its readers" },
  { point: "turn", step: "a worker takes the workload" },
  { point: "planned", step: "Wave plans the workload" },
  { point: "sent", step: "Wave makes the patch and passes it to the connection" },
  { point: "patchReceived", step: "the API server receives the patch" },
  { point: "patchDone", step: "the API server stores the patch" },
  { point: "answered", step: "Wave reads the response" },
] as const;

type Point = (typeof points)[number]["point"];
type Trace = Readonly<Record<Point, number>>;

/** Edits a ConfigMap again and again, one edit at a time, with `others` Deployments beside the one that reads it. */
export async function measureTrace(others: number, edits = 300): Promise<readonly TraceStep[]> {
  const plane = await startPlane([namespace]);
  const { client } = plane;
  try {
    const configMaps = resourcePath(resources.configMaps, { namespace });
    await times(others + 1, 32, async (index) => {
      const name = `app-${index}`;
      await client.request({ method: "POST", path: configMaps, body: { metadata: { name }, data: { a: "0" } } });
      await createDeployment(client, namespace, name, { configMap: name });
    });
    const hashes = await watchHashes(client, namespace);
    const first = hashes.changed(others + 1);
    const stop = await startMarkedWave(plane);
    await first;
    await quiet(plane);
    // The first edits warm up client, server and Wave.
    for (let edit = 1; edit <= edits + 50; edit++) {
      const patched = hashes.changed(1);
      await client.request({ method: "PATCH", path: `${configMaps}/app-0`, body: { data: { a: String(edit) } } });
      await patched;
    }
    hashes.stop();
    const marks = await stop();
    return stepsOf(await tracesOf(plane, marks, edits));
  } finally {
    await plane.stop();
  }
}

/** Resolves when no request was made for a second: Wave still reports the first hashes after it has written them. */
async function quiet({ auditLog }: Plane): Promise<void> {
  let size = 0;
  await until("Wave to be quiet", async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const before = size;
    size = statSync(auditLog).size;
    return size === before ? true : undefined;
  });
}

/** Starts Wave from its sources, with the flags of `bin/wave` and with marks. Returns the function that ends it. */
async function startMarkedWave(plane: Plane): Promise<() => Promise<readonly Mark[]>> {
  const [metrics, probes] = [await freePort(), await freePort()];
  const file = join(plane.kubeconfig, "../marks.json");
  const args = [
    ...[`--import=${join(root, "bench/trace-marks.ts")}`, join(root, "src/main.ts"), "run", "--beside-installed"],
    ...[`--kubeconfig=${plane.jsonKubeconfig}`, `--metrics-bind-address=127.0.0.1:${metrics}`, "--log-level=warn"],
    ...[`--health-probe-bind-address=127.0.0.1:${probes}`, "--update-rate=unlimited", "--settle=0"],
    "--max-concurrent-rollouts=0",
  ];
  const env = { ...waveEnv, TRACE_MARKS: file };
  const child = spawn(join(root, "bin/node"), [...waveFlags, ...args], { env, stdio: ["ignore", "ignore", "inherit"] });
  return async () => {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
    return JSON.parse(readFileSync(file, "utf8"));
  };
}

/** The last `edits` edits. Resolves when the audit log, which is written in batches, has all of their requests. */
function tracesOf(plane: Plane, marks: readonly Mark[], edits: number): Promise<readonly Trace[]> {
  return until("the audit log to have all edits", async () => {
    const patches = readAuditLog(plane.auditLog).filter(
      ({ verb, objectRef }) => verb === "patch" && objectRef?.name === "app-0",
    );
    const of = (resource: string) => patches.filter(({ objectRef }) => objectRef?.resource === resource);
    const traces = of("configmaps")
      .slice(-edits)
      .map((edit) => traceOf(edit, of("deployments"), marks));
    const complete = traces.filter((trace) => trace !== undefined);
    return complete.length === edits ? complete : undefined;
  });
}

/** Each point is the first of its kind after the point before it. Undefined if a point is missing. */
function traceOf(edit: AuditEvent, patches: readonly AuditEvent[], marks: readonly Mark[]): Trace | undefined {
  let last = timeOf(edit.requestReceivedTimestamp);
  const trace: Partial<Record<Point, number>> = { editReceived: last };
  let patch: AuditEvent | undefined;
  for (const { point } of points.slice(1)) {
    let at: number | undefined;
    if (point === "patchReceived") {
      patch = patches.find((each) => timeOf(each.stageTimestamp) > last);
      // The clocks are the same, but the server notes the time when it begins with a request, not when bytes arrive.
      at = patch && Math.max(last, timeOf(patch.requestReceivedTimestamp));
    } else if (point === "patchDone") at = patch && timeOf(patch.stageTimestamp);
    else at = marks.find(({ step, at }) => step === point && at >= last)?.at;
    if (at === undefined) return undefined;
    trace[point] = at;
    if (point !== "patchDone") last = at;
  }
  return trace as Trace;
}

/** Milliseconds since 1970, with microseconds as the fraction: `Date` has only milliseconds. */
function timeOf(timestamp: string): number {
  return Date.parse(timestamp) + Number(/\.\d{3}(\d{3})/.exec(timestamp)?.[1] ?? 0) / 1000;
}

function stepsOf(traces: readonly Trace[]): readonly TraceStep[] {
  const between = (from: Point, to: Point, step: string): TraceStep => {
    const all = traces.map((trace) => trace[to] - trace[from]);
    return { step, p50: quantile(all, 0.5), p99: quantile(all, 0.99) };
  };
  const steps = points.slice(1).map(({ point, step }, index) => between(points[index]?.point ?? "read", point, step));
  return [
    ...steps,
    between("read", "sent", "all of Wave before the patch"),
    between("editReceived", "patchDone", "from the edit to the stored patch"),
  ];
}
