import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { WorkloadDifference } from "../../src/cli/diff/difference.ts";
import type { ListedWorkload } from "../../src/cli/list/list-output.ts";
import type { Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess, wave } from "../control-plane/wave-process.ts";
import { dice, type Edit, edits, firstShop, type Shop } from "./diff-shop.ts";
import { makeNamespace } from "./objects.ts";

const rounds = 10;

interface Stored {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly template: { readonly metadata: { readonly annotations?: Record<string, string> } } };
}

const hashAnnotation = "wave.pusher.com/config-hash";

/** A namespace to which manifests are applied, and what `wave` says of it. */
function shopIn(cluster: Cluster, namespace: string, apply: readonly string[]) {
  const run = (flags: readonly string[], ...args: readonly string[]) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const all = [...args, "--kubeconfig", cluster.kubeconfig, "-n", namespace, "-ojson", ...flags];
      const child = execFile(wave, all, (_error, out, err) => resolve({ code: child.exitCode ?? -1, out, err }));
    });
  const write = async (shop: Shop) => {
    const file = join(await mkdtemp(join(tmpdir(), "wave-diff-")), "shop.json");
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: shop }));
    return file;
  };
  return {
    run,
    write,
    apply: (file: string) => cluster.kubectl(["-n", namespace, "apply", ...apply, "-f", file]),
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

describeOnControlPlane("wave diff", (cluster) => {
  let running: WaveProcess;
  const namespaces = ["diff-client", "diff-server"];
  const flags = ["--settle=0", "--max-concurrent-rollouts=0"];

  beforeAll(async () => {
    for (const name of namespaces) await makeNamespace(cluster, name);
    running = await startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${namespaces.join(",")}`]);
  });
  afterAll(() => running?.stop());

  it.each([
    ["kubectl apply", "diff-client", []],
    ["kubectl apply --server-side", "diff-server", ["--server-side", "--force-conflicts"]],
  ])("says what Wave then does, whatever is edited and applied by %s", async (_, namespace, apply) => {
    const shop = shopIn(cluster, namespace, apply);
    const seed = Number(process.env.WAVE_DIFF_SEED ?? Math.floor(Math.random() * 1e9));
    const roll = dice(seed);
    let objects = firstShop();
    await shop.apply(await shop.write(objects));
    await shop.settled(...flags);
    for (let round = 1; round <= rounds; round++) {
      const made: string[] = [];
      for (let count = 1 + roll(3); count > 0; count--) {
        const edit = edits[roll(edits.length)] as Edit;
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
