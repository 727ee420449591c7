import { describe, expect, it } from "vitest";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  type WorkloadFixture,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import { processorMs } from "../../../test/support/processor-time.ts";
import { sameWorkload } from "../model/cached-workload.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { toWorkload } from "../model/workload.ts";

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

const large: Readonly<Record<string, (entries: number) => WorkloadFixture>> = {
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

/** Transforms, compares and plans a workload so many times. */
function planning(wanted: WorkloadFixture, keys: number, times: number): () => void {
  const object = workloadObject(wanted);
  const lookup = lookupOf(configMap("web", Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, ""]))));
  return () => {
    for (let time = 0; time < times; time++) {
      const workload = toWorkload(kinds.StatefulSet, object);
      sameWorkload(workload, toWorkload(kinds.StatefulSet, object));
      planRollout(workload, lookup, defaultPolicy);
    }
  };
}

describe("the cost of a workload", () => {
  it.each(Object.entries(large))("is linear in the number of its %s", async (_, wanted) => {
    const repeated = (work: () => void, count: number) =>
      processorMs(() => {
        for (let i = 0; i < count; i++) work();
      });
    const one = planning(wanted(4_000), 4_000, 1);
    const many = planning(wanted(250), 250, 16);
    // As often as is enough to measure it.
    let count = 1;
    let ofMany = await repeated(many, count);
    while (ofMany < 50) {
      count *= 2;
      ofMany = await repeated(many, count);
    }
    // Linear is 1, quadratic 16.
    expect((await repeated(one, count)) / ofMany).toBeLessThan(5.5);
  });
});
