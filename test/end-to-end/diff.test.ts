import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { stringify } from "yaml";
import type { WorkloadDifference } from "../../src/cli/diff/workload-difference.ts";
import type { ListedWorkload } from "../../src/cli/list/list-output.ts";
import { helm } from "../admission/admitted.ts";
import type { Cluster } from "../control-plane/cluster.ts";
import { describeOnOwnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess, wave } from "../control-plane/wave-process.ts";
import { playedSeed } from "../support/played-seed.ts";
import { dice, type Edit, edits, firstShop } from "./diff-shop.ts";
import { container, makeNamespace, workload } from "./objects.ts";

const rounds = 10;

interface Stored {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly template: { readonly metadata: { readonly annotations?: Record<string, string> } } };
}

const hashAnnotation = "wave.pusher.com/config-hash";

/** A namespace to which manifests are applied, and the output of `wave` for it. */
function shopIn(cluster: Cluster, namespace: string, applied: (file: string) => Promise<string>) {
  const run = (flags: readonly string[], ...args: readonly string[]) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const all = [...args, "--kubeconfig", cluster.kubeconfig, "-n", namespace, "-ojson", ...flags];
      const child = execFile(wave, all, (_error, out, err) => resolve({ code: child.exitCode ?? -1, out, err }));
    });
  const write = async (shop: readonly object[]) => {
    const folder = await mkdtemp(join(tmpdir(), "wave-diff-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const templates = join(folder, "templates");
    mkdirSync(templates);
    writeFileSync(join(folder, "Chart.yaml"), "apiVersion: v2\nname: shop\nversion: 1.0.0\n");
    const file = join(templates, "shop.yaml");
    writeFileSync(file, shop.map((object) => stringify(object, { version: "1.1" })).join("---\n"));
    return file;
  };
  return {
    run,
    write,
    apply: applied,
    diff: async (file: string, ...flags: readonly string[]): Promise<readonly WorkloadDifference[]> => {
      const { out, err } = await run(flags, "diff", "-f", file);
      if (err !== "") throw new Error(err);
      return JSON.parse(out).workloads;
    },
    /** Resolves when Wave has written every change that follows from the stored objects. */
    settled: (...flags: readonly string[]) =>
      until("nothing to be due", async () => {
        const { out } = await run(flags, "list");
        const items: readonly ListedWorkload[] = JSON.parse(out).items;
        return items.some(({ state }) => ["due", "held", "unknown"].includes(state)) ? undefined : items;
      }),
    templates: async () => {
      const kinds = "deployments,statefulsets,daemonsets";
      const { items } = JSON.parse(await cluster.kubectl(["-n", namespace, "get", kinds, "-o", "json"]));
      return new Map(
        (items as readonly Stored[]).map(({ kind, metadata, spec }) => [`${kind}/${metadata.name}`, spec.template]),
      );
    },
  };
}

type Template = Stored["spec"]["template"];

/** Returns the effect on a pod template, in the words of `wave diff`; undefined if it is unchanged. */
function effectOf(before: Template, after: Template): string | undefined {
  const bare = ({ metadata: { annotations: all = {}, ...metadata }, ...rest }: Template) => {
    const { [hashAnnotation]: _, ...annotations } = all;
    return JSON.stringify({ ...rest, metadata, annotations });
  };
  if (bare(before) !== bare(after)) return "template";
  return before.metadata.annotations?.[hashAnnotation] === after.metadata.annotations?.[hashAnnotation]
    ? undefined
    : "roll";
}

describeOnOwnControlPlane("wave diff", (cluster) => {
  let running: WaveProcess;
  const namespaces = ["diff-client", "diff-server", "diff-helm"];
  const kubectl =
    (namespace: string, ...apply: readonly string[]) =>
    (file: string) =>
      cluster.kubectl(["-n", namespace, "apply", ...apply, "-f", file]);
  const flags = ["--settle=0", "--max-concurrent-rollouts=0"];

  beforeAll(async () => {
    for (const name of namespaces) await makeNamespace(cluster, name);
    running = await startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${namespaces.join(",")}`]);
  });
  afterAll(() => running?.stop());

  it.each([
    ["kubectl apply", "diff-client", kubectl("diff-client")],
    ["kubectl apply --server-side", "diff-server", kubectl("diff-server", "--server-side", "--force-conflicts")],
    [
      "helm upgrade",
      "diff-helm",
      (file: string) => helm(cluster, ["upgrade", "--install", "shop", join(file, "../.."), "-n", "diff-helm"]),
    ],
  ])("predicts what Wave does after any edit that %s applies", async (_, namespace, apply) => {
    const shop = shopIn(cluster, namespace, apply);
    // Helm never removes keys that it set by stringData, and the stored object does not show how they were set.
    const possible = edits.filter(({ name }) => namespace !== "diff-helm" || name !== "a Secret in base64");
    const seed = playedSeed();
    const roll = dice(seed);
    let objects = firstShop();
    await shop.apply(await shop.write(objects));
    await shop.settled(...flags);
    for (let round = 1; round <= rounds; round++) {
      const made: string[] = [];
      for (let count = 1 + roll(3); count > 0; count--) {
        const edit = possible[roll(possible.length)] as Edit;
        objects = edit.apply(structuredClone(objects), roll);
        made.push(edit.name);
      }
      const file = await shop.write(objects);
      const predicted = new Map(
        (await shop.diff(file, ...flags)).map(({ kind, name, effect }) => [`${kind}/${name}`, effect]),
      );
      const before = await shop.templates();
      await shop.apply(file);
      await shop.settled(...flags);
      const after = await shop.templates();
      const done = new Map(
        [...before].flatMap(([key, template]) => {
          const effect = effectOf(template, after.get(key) as Template);
          return effect === undefined ? [] : [[key, effect] as const];
        }),
      );
      expect({ seed, round, made, effects: predicted }).toEqual({ seed, round, made, effects: done });
    }
  });
});

describeOnOwnControlPlane("wave diff of a change for several workloads", (cluster) => {
  const namespace = "diff-waves";
  const flags = ["--settle=500ms", "--soak=2s"];
  let running: WaveProcess;

  beforeAll(async () => {
    await makeNamespace(cluster, namespace);
    const all = ["--kubeconfig", cluster.kubeconfig, `--namespaces=${namespace}`, ...flags];
    running = await startWave(all, { paced: true });
  });
  afterAll(() => running?.stop());

  it("predicts the order of the rollouts, and the held workload", async () => {
    const shop = shopIn(cluster, namespace, (file) => cluster.kubectl(["-n", namespace, "apply", "-f", file]));
    const reads = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "page" } }] }] };
    const page = (key: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "page" }, data: { key } });
    const readers = [
      workload("a", reads),
      workload("b", reads),
      workload("c", reads, { annotations: { "wave.pusher.com/priority": "1" } }),
      workload("d", reads, { annotations: { "wave.pusher.com/hold": "false" } }),
    ];
    await shop.apply(await shop.write([page("1"), ...readers]));
    await shop.settled(...flags);
    const held = workload("d", reads, { annotations: { "wave.pusher.com/hold": "true" } });
    const file = await shop.write([page("2"), ...readers.slice(0, 3), held]);
    const expected = [
      ["c", "roll", 1, undefined],
      ["a", "roll", 2, undefined],
      ["b", "roll", 2, undefined],
      ["d", "held", null, "hold"],
    ];
    // The first rollout was just before, which holds the next one for 10 s.
    await until("the interval to end", async () => {
      const times = await Promise.all(["a", "b", "c"].map((name) => rolledAt(cluster, namespace, name)));
      return Date.now() - Math.max(...times) > 12_000 ? true : undefined;
    });
    await until("wave diff to predict the order", async () => {
      const predicted = await shop.diff(file, ...flags);
      const rows = predicted.map(({ name, effect, batch, hold }) => [name, effect, batch, hold?.reason]);
      expect(rows).toEqual(expected);
      return true;
    });
    const before = await shop.templates();
    await shop.apply(file);
    await until("all workloads but the held one to roll", async () => {
      const after = await shop.templates();
      const rolled = [...after].filter(([key, template]) => effectOf(before.get(key) as Template, template) === "roll");
      return rolled.length === 3 ? rolled : undefined;
    });
    const { items } = JSON.parse((await shop.run(flags, "list")).out);
    expect(items).toContainEqual(expect.objectContaining({ name: "d", state: "held", because: "hold" }));
    const [a, b, c] = await Promise.all(["a", "b", "c"].map((name) => rolledAt(cluster, namespace, name)));
    expect(Math.min(a ?? 0, b ?? 0)).toBeGreaterThan(c ?? 0);
  });
});

/** Returns the time of the last rollout by Wave of a Deployment in milliseconds since the epoch, in whole seconds; 0 if there was none. */
async function rolledAt(cluster: Cluster, namespace: string, name: string): Promise<number> {
  const { metadata } = await cluster.api<{
    metadata: { managedFields: readonly { manager: string; time: string }[] };
  }>("GET", `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`);
  return Date.parse(metadata.managedFields.find(({ manager }) => manager === "wave")?.time ?? "") || 0;
}
