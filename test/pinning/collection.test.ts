import { expect, it } from "vitest";
import type { Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { kindNames, makeNamespace, type Namespace, type WorkloadKind, workload } from "../end-to-end/objects.ts";
import { newHash, waveEvents } from "../end-to-end/state.ts";
import { createDice, type Dice, randomFrom } from "../simulation/dice.ts";
import { playedSeed } from "../support/played-seed.ts";
import { copiesInUse, copiesOfPods, copyNames } from "./copies-in-use.ts";
import { pointsPods } from "./pointed.ts";
import { applyPointingPolicy, pagesRead, readsPages } from "./scenarios.ts";
import { startWithShortAges } from "./short-ages.ts";

/** The deletions of copies that the test waits for while people edit. */
const deletions = 15;
/** A page is often used again about when the copy of its last use is deleted, after half a minute. */
const recentPages = 40;
/** The shortest time between two edits in milliseconds, so that there are never more copies than Wave keeps of old revisions. */
const pauseMs = 400;

describeOnControlPlane("the copies of pinned workloads that people edit and undo", (cluster) => {
  it.concurrent.for([
    ["pinned-collected", false],
    ["pinned-collected-webhook", true],
  ] as const)(
    "are deleted when nothing uses them, and only then, in namespace %s",
    { timeout: 900_000 },
    async ([ns, webhooks]) => {
      const dice = createDice(randomFrom(playedSeed()));
      const namespace = await makeNamespace(cluster, ns);
      const wave = await startWithShortAges(cluster, ns, { webhooks });
      try {
        await applyPointingPolicy(cluster, ns);
        await pointsPods(cluster, ns);
        const apps = kindNames.map((kind) => ({ kind, name: `web-${kind.toLowerCase()}` }));
        for (const { kind, name } of apps) await create(namespace, kind, name);
        for (const { kind, name } of apps) await newHash(cluster, ns, kind, name);

        expect(await podsWithoutCopy(cluster, namespace, dice, apps)).toEqual([]);

        for (const { name } of apps) await namespace.edit("ConfigMap", name, { page: "last" });
        for (const { kind, name } of apps) {
          await until(`the last page of ${name}`, async () =>
            (await pagesRead({ cluster, namespace }, name)).join() === "last" ? true : undefined,
          );
          await cluster.kubectl(["-n", ns, "rollout", "status", `${kind.toLowerCase()}/${name}`, "--timeout=120s"]);
        }
        const { copies, used, revisions } = await copiesInUse(cluster, ns);
        expect([...used.union(revisions).difference(copies)]).toEqual([]);
        await until("the deletion of unused copies", async () => {
          const now = await copiesInUse(cluster, ns);
          return now.copies.difference(now.revisions).size === 0 ? true : undefined;
        });
        const end = await copiesInUse(cluster, ns);
        expect([...end.copies].toSorted()).toEqual([...end.revisions].toSorted());
        for (const { name } of apps) {
          const events = await waveEvents(cluster, ns, name);
          expect(events.filter(({ reason }) => reason === "PinnedCopyLost")).toEqual([]);
        }
      } finally {
        await wave.stop();
      }
    },
  );
});

interface App {
  readonly kind: WorkloadKind;
  readonly name: string;
}

/** Creates a pinned workload with few old revisions, and its ConfigMap. */
async function create(namespace: Namespace, kind: WorkloadKind, name: string): Promise<void> {
  await namespace.configMap(name, { page: "0" });
  const annotations = { "wave.pusher.com/pin-config": "true" };
  const spec = { revisionHistoryLimit: 2 };
  await namespace.create(workload(name, readsPages([name]), { kind, annotations, spec }));
}

/**
 * Edits and undoes the workloads until the collector has deleted enough copies. Returns the Pods whose copy was gone while they existed, with
 * the name of the copy.
 */
async function podsWithoutCopy(
  cluster: Cluster,
  namespace: Namespace,
  dice: Dice,
  apps: readonly App[],
): Promise<readonly string[]> {
  const ns = namespace.name;
  const missing: string[] = [];
  let newest = 0;
  let before = new Set<string>();
  let deleted = 0;
  const act = async ({ kind, name }: App) => {
    if (dice.chance(0.25)) {
      // A workload may have no earlier revision.
      await cluster.kubectl(["-n", ns, "rollout", "undo", `${kind.toLowerCase()}/${name}`]).catch(() => {});
      return;
    }
    const page = dice.chance(0.5) ? ++newest : Math.max(0, newest - dice.between(0, recentPages));
    await namespace.edit("ConfigMap", name, { page: `${page}` });
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  };
  await until(
    `${deletions} deletions of copies`,
    async () => {
      for (const app of apps) {
        await act(app);
        const pods = await copiesOfPods(cluster, ns);
        const names = new Set(await copyNames(cluster, ns));
        deleted += before.difference(names).size;
        before = names;
        const lost = [...pods].filter(([, copies]) => copies.some((copy) => !names.has(copy)));
        if (lost.length === 0) continue;
        const still = await copiesOfPods(cluster, ns);
        missing.push(...lost.filter(([pod]) => still.has(pod)).map(([pod, copies]) => `${pod}: ${copies.join()}`));
      }
      return deleted >= deletions || missing.length > 0 ? true : undefined;
    },
    600_000,
  );
  return missing;
}
