import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { blocksFollowedBy, exchangesOf } from "../../../test/docs/fences.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";
import { type Cause, writeCause } from "../../domain/pacing/cause.ts";
import type { TimelineEntry } from "../cluster/timeline/timeline.ts";
import { paintOf } from "../output/table.ts";
import { renderTimeline } from "./timeline.ts";

const zone = process.env.TZ;
beforeAll(() => {
  process.env.TZ = "UTC";
});
const sandbox = await startSandbox({ controllers: false });
afterEach(() => sandbox.faults.clear());
afterAll(async () => {
  process.env.TZ = zone;
  await sandbox.close();
});

let scenes = 0;
const hash = `v2:${"1".repeat(64)}`;

/** A Deployment `web` that reads ConfigMap `page`, which Helm edited, with a ReplicaSet that has the cause of a rollout. */
async function scene(more: Partial<Cause> = {}) {
  const namespace = `timeline-${++scenes}`;
  const cluster = commandScene(sandbox, namespace);
  await cluster.createNamespace(namespace);
  await cluster.createConfigMap("page", "secret-looking-1");
  await cluster.createConfigMap("unread", "1");
  await cluster.createWorkload("deployments/web", { envFrom: [{ configMapRef: { name: "page" } }] });
  await cluster.merge("configmaps/page", { data: { key: "secret-looking-2" } }, "helm");
  await cluster.merge("configmaps/unread", { data: { key: "2" } }, "helm");
  const { uid } = (await cluster.read("deployments/web")).metadata;
  const cause = writeCause(hash, {
    at: Date.now(),
    why: "a person requested it",
    edits: [],
    heldBy: undefined,
    ...more,
  });
  const create = async (path: string, body: object) => {
    const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    expect((await fetch(`${sandbox.url}${path}`, options)).status).toBe(201);
  };
  await create(`/apis/apps/v1/namespaces/${namespace}/replicasets`, {
    metadata: {
      name: "web-1",
      labels: { app: "web" },
      annotations: { "wave.pusher.com/cause": cause },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid, controller: true }],
    },
    spec: {
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "nginx" }] } },
    },
  });
  const event = (name: string, about: object, reason: string, message: string) =>
    create(`/api/v1/namespaces/${namespace}/events`, {
      metadata: { name },
      involvedObject: { namespace, ...about },
      source: { component: "wave" },
      firstTimestamp: new Date(Date.now() + 1_000).toISOString(),
      lastTimestamp: new Date(Date.now() + 1_000).toISOString(),
      reason,
      message,
    });
  await event("end", { kind: "Deployment", name: "web", uid }, "RolloutComplete", "Rollout complete after 1s: x.");
  /** Creates the Deployment that runs Wave, and the Event of its leader. */
  const runWave = async () => {
    await create(`/apis/apps/v1/namespaces/${namespace}/deployments`, {
      metadata: { name: "wave", labels: { "app.kubernetes.io/name": "wave" } },
      spec: {
        selector: { matchLabels: { app: "wave" } },
        template: {
          metadata: { labels: { app: "wave" } },
          spec: { containers: [{ name: "wave", image: "wave", args: ["run", `--namespaces=${namespace}`] }] },
        },
      },
    });
    await event("leader", { kind: "Lease", name: "wave", uid: "lease" }, "LeaderElection", "wave-1 became leader.");
  };
  return { ...cluster, namespace, runWave };
}

/** Returns the lines without their times. */
const withoutTimes = (out: string) =>
  out.replace(/^(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d +/gm, "").replace(/\d\d:\d\d:\d\d/g, "TIME");

it("docs/commands.md shows a timeline as wave timeline prints it", () => {
  const at = (text: string) => Date.parse(`2026-01-${text}Z`);
  const entry = { namespace: "shop", details: [], by: null, endedAt: null, result: null };
  const entries: readonly TimelineEntry[] = [
    {
      ...entry,
      at: at("30T18:03:10"),
      type: "edit",
      about: "configmap/common",
      text: "edited (LOG_LEVEL) by argocd-controller",
    },
    { ...entry, at: at("30T18:03:10"), type: "hold", about: "deployment/api", text: "held by window" },
    {
      ...entry,
      at: at("31T03:12:07"),
      type: "rollout",
      about: "deployment/api",
      text: "rolled: ConfigMap common (LOG_LEVEL), edited 2026-01-30 18:03:10 by argocd-controller, held by window 9h, complete 03:12:31",
    },
  ];
  const blocks = blocksFollowedBy("src/cli/timeline/timeline.test.ts", "docs/commands.md");
  expect(blocks.flatMap(exchangesOf)).toEqual([
    {
      command: "wave timeline -n shop --since 12h",
      output: renderTimeline(entries, false, paintOf(false)).trimEnd().split("\n"),
    },
  ]);
});

it("reports that nothing happened", async () => {
  const { createNamespace, run } = commandScene(sandbox, "timeline-empty");
  await createNamespace("timeline-empty");
  const err = "Nothing happened in this time, as far as Kubernetes keeps it.\n";
  expect(await run("timeline")).toEqual({ code: 0, out: "", err });
});

it("shows edits of what workloads read, rollouts with their ends, and leaders, but no value", async () => {
  const { run, namespace, runWave } = await scene();
  await runWave();
  const { code, out, err } = await run("timeline");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(withoutTimes(out).trimEnd().split("\n").sort()).toEqual([
    "configmap/page edited by helm",
    "deployment/web rolled: a person requested it, complete TIME",
    "lease/wave wave-1 became leader.",
  ]);
  expect(out).not.toContain("secret-looking");
  const json = JSON.parse((await run("timeline", "-o", "json")).out);
  expect(json.version).toBe(1);
  expect(json.entries.find(({ type }: TimelineEntry) => type === "rollout")).toMatchObject({
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    endedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    namespace,
    about: "deployment/web",
    result: "complete",
  });
});

it("shows all namespaces with -A, and nothing that ended before --since", async () => {
  const { run, namespace } = await scene({ at: Date.now() - 3_600_000 });
  const all = await run("timeline", "-A", "--since=2h");
  expect(all.out).toMatch(new RegExp(`^\\S+ +${namespace} +deployment/web rolled: `, "m"));
  expect((await run("timeline", "--since=2h")).out).toContain("rolled: ");
  sandbox.faults.add({ match: ({ path }) => path.includes("/events"), action: { type: "status", status: 403 } });
  expect((await run("timeline", "--since=30m")).out).not.toContain("rolled: ");
});

it("prints a text of another client as text, on one line", async () => {
  const { run } = await scene({ why: "\u001b[31mred\nnext line" });
  const { out } = await run("timeline");
  expect(out).toContain("rolled: \\u{1b}[31mred\\u{a}next line");
});

it.each(["replicasets", "controllerrevisions", "configmaps", "secrets", "events"])(
  "is incomplete without permission to list %s, and shows the rest",
  async (resource) => {
    const { run, namespace } = await scene();
    const match = ({ path }: { readonly path: string }) =>
      path.startsWith(`/api`) && path.includes(`${namespace}/${resource}`);
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const { code, out, err } = await run("timeline");
    expect(code).toBe(3);
    expect(err).toMatch(
      new RegExp(
        `^warning: The timeline is incomplete: you do not have permission to list ${resource} in ${namespace}\\.[^\\n]*\\n$`,
      ),
    );
    expect(out).not.toBe("");
  },
);
