import { describe, expect, it } from "vitest";
import { sameWorkload } from "./cached-workload.ts";
import { kinds } from "./kinds.ts";
import { planRollout } from "./plan.ts";
import { configMap, defaultPolicy, lookupOf, type Wanted, workloadObject } from "./test-objects.ts";
import { toWorkload } from "./workload.ts";

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

const large: Readonly<Record<string, (entries: number) => Wanted>> = {
  "variables of one ConfigMap": (n) => ({
    pod: {
      containers: [
        {
          name: "web",
          env: times(n, (i) => ({ name: `V${i}`, valueFrom: { configMapKeyRef: { name: "web", key: `k${i}` } } })),
        },
      ],
    },
  }),
  "items and subPaths of one volume": (n) => ({
    pod: {
      volumes: [{ name: "v", configMap: { name: "web", items: times(n, (i) => ({ key: `k${i}`, path: `d/${i}` })) } }],
      containers: [
        { name: "web", volumeMounts: times(n, (i) => ({ name: "v", mountPath: `/m/${i}`, subPath: `d/${i}` })) },
      ],
    },
  }),
  "volumes and claims": (n) => ({
    kind: "StatefulSet",
    pod: { volumes: times(n, (i) => ({ name: `v${i}`, secret: { secretName: "db" } })) },
    spec: { volumeClaimTemplates: times(n, (i) => ({ metadata: { name: `v${i}` } })) },
  }),
  "bad names": (n) => ({ annotations: { "wave.pusher.com/extra-configmaps": times(n, (i) => `B_${i}`).join() } }),
  "unknown annotations": (n) => ({
    annotations: Object.fromEntries(times(n, (i) => [`wave.pusher.com/${i}`, ""])),
  }),
};

/** What it costs to transform, compare and plan a workload so many times, in milliseconds. */
function costOf(wanted: Wanted, keys: number, repeats: number): () => number {
  const object = workloadObject(wanted);
  const lookup = lookupOf(configMap("web", Object.fromEntries(times(keys, (i) => [`k${i}`, ""]))));
  return () => {
    const begun = performance.now();
    for (let repeat = 0; repeat < repeats; repeat++) {
      const workload = toWorkload(kinds.StatefulSet, object);
      sameWorkload(workload, toWorkload(kinds.StatefulSet, object));
      planRollout(workload, lookup, defaultPolicy);
    }
    return performance.now() - begun;
  };
}

describe("the cost of a workload", () => {
  it.each(Object.entries(large))("grows with its %s as they do, and not with their square", (_, wanted) => {
    const one = costOf(wanted(4_000), 4_000, 1);
    const many = costOf(wanted(250), 250, 16);
    // The least of some runs: what else runs on the machine only adds, and to both alike.
    const runs = times(5, () => [one(), many()] as const);
    const ratio = Math.min(...runs.map(([cost]) => cost)) / Math.min(...runs.map(([, cost]) => cost));
    // Linear is 1, quadratic 16.
    expect(ratio).toBeLessThan(5.5);
  });
});
