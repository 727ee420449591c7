import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
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

/** A namespace to which manifests are applied, and what `wave` says of it. */
function shopIn(cluster: Cluster, namespace: string, applied: (file: string) => Promise<string>) {
  const run = (flags: readonly string[], ...args: readonly string[]) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const all = [...args, "--kubeconfig", cluster.kubeconfig, "-n", namespace, "-ojson", ...flags];
      const child = execFile(wave, all, (_error, out, err) => resolve({ code: child.exitCode ?? -1, out, err }));
    });
  const write = async (shop: readonly object[]) => {
    const templates = join(await mkdtemp(join(tmpdir(), "wave-diff-")), "templates");
    mkdirSync(templates);
    writeFileSync(join(templates, "../Chart.yaml"), "apiVersion: v2\nname: shop\nversion: 1.0.0\n");
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
    /** Resolves when Wave has written what follows from what is stored. */
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

/** What became of a pod template, in the words of `wave diff`; undefined: nothing. */
function effectOf(before: Template, after: Template): string | undefined {
  const bare = ({ metadata, ...rest }: Template) => {
    const { [hashAnnotation]: _, ...annotations } = metadata.annotations ?? {};
    return JSON.stringify({ ...rest, metadata: { ...metadata, annotations } });
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
  ])("says what Wave then does, whatever is edited and applied by %s", async (_, namespace, apply) => {
    const shop = shopIn(cluster, namespace, apply);
    // What Helm said in stringData before it never removes, and nobody can tell afterwards how it was said.
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
      const told = new Map(
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
      expect({ seed, round, made, effects: told }).toEqual({ seed, round, made, effects: done });
    }
  });
});

describeOnOwnControlPlane("wave diff of a change that many read", (cluster) => {
  const namespace = "diff-waves";
  const flags = ["--settle=500ms", "--soak=2s"];
  let running: WaveProcess;

  beforeAll(async () => {
    await makeNamespace(cluster, namespace);
    const all = ["--kubeconfig", cluster.kubeconfig, `--namespaces=${namespace}`, ...flags];
    running = await startWave(all, { paced: true });
  });
  afterAll(() => running?.stop());

  it("says in which order they are then rolled, and who is held", async () => {
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
    // Their first roll is a short time ago, which holds them for 10 s, by Wave's clock to the millisecond.
    await until("that to be long ago", async () => {
      const times = await Promise.all(["a", "b", "c"].map((name) => rolledAt(cluster, namespace, name)));
      return Date.now() - Math.max(...times) > 12_000 ? true : undefined;
    });
    await until("wave diff to tell the order", async () => {
      const told = await shop.diff(file, ...flags);
      const rows = told.map(({ name, effect, batch, hold }) => [name, effect, batch, hold?.reason]);
      expect(rows).toEqual(expected);
      return true;
    });
    const before = await shop.templates();
    await shop.apply(file);
    await until("all but the held one to be rolled", async () => {
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

/** When Wave wrote a Deployment last, as the API server noted it, to the second. */
async function rolledAt(cluster: Cluster, namespace: string, name: string): Promise<number> {
  const { metadata } = await cluster.api<{
    metadata: { managedFields: readonly { manager: string; time: string }[] };
  }>("GET", `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`);
  return Date.parse(metadata.managedFields.find(({ manager }) => manager === "wave")?.time ?? "");
}
