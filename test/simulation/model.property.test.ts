import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { type ConfigObject, toConfig } from "../../src/domain/config/digest.ts";
import { type BuiltInKind, kinds } from "../../src/domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../src/domain/model/workload.ts";
import { planRollout } from "../support/domain/decisions.ts";
import { unpaced } from "../support/domain/objects.ts";
import { createDice, randomFrom } from "./dice.ts";
import { standsFor } from "./model-search.ts";
import { hasSchedulingHold, namedBy, optedIn } from "./model-workload.ts";
import type { StoredObject } from "./record.ts";
import { configKinds, configNames, someContent, someWorkload, workloadKinds } from "./world-objects.ts";
import { chooseScenario } from "./world-scenarios.ts";

/** A workload and the configuration around it. */
function scene(seed: number) {
  const dice = createDice(randomFrom(seed));
  const { shape, settings } = chooseScenario(dice);
  const kind = dice.oneOf(workloadKinds)?.kind ?? "Deployment";
  const workload = stored(someWorkload(dice, shape, kind, "one", "web"));
  const configs = shape.namespaces.flatMap((namespace) =>
    configNames(shape).flatMap((name) =>
      configKinds.flatMap(({ kind: configKind }) => {
        if (dice.chance(0.2)) return [];
        const annotations = { "wave.pusher.com/shared-with": dice.pick("*", "two", "three, one", "") };
        const metadata = { name, namespace, annotations };
        return [stored({ kind: configKind, metadata, ...someContent(dice, configKind) })];
      }),
    ),
  );
  return { settings, kind, workload, configs };
}

function stored(object: object): StoredObject {
  const { metadata } = object as StoredObject;
  return { ...object, metadata: { ...metadata, uid: "1", resourceVersion: "1", generation: 1 } } as StoredObject;
}

describe("model and Wave", () => {
  it("read a workload in the same way", () => {
    const property = fc.property(fc.integer(), (seed) => {
      const { settings, kind, workload, configs } = scene(seed);
      if (!optedIn(workload, settings)) return;
      const find = (key: string) =>
        configs.find(({ kind: of, metadata }) => key === `${of}/${metadata.namespace}/${metadata.name}`);
      const { hash, missing } = standsFor(namedBy(workload, settings), find);
      const plan = planRollout(
        toWorkload(kinds[kind as BuiltInKind], workload as object),
        (of, namespace, name) => {
          const found = find(`${of}/${namespace}/${name}`);
          return found && of !== "SecretProviderClass" ? toConfig(of, found as unknown as ConfigObject) : undefined;
        },
        { ...settings, pacing: settings.pacing ?? unpaced, hashKeys: undefined },
      );
      // The judge checks scheduling holds, because it reads the writes.
      const schedulingHeld = hasSchedulingHold(workload);
      if (missing) expect(plan.outcome).toBe(schedulingHeld && !settings.schedulingHold ? "cleanUp" : "waiting");
      else if (hash === undefined) expect(plan.outcome).toBe(schedulingHeld ? "firstHash" : "current");
      else expect(plan).toMatchObject({ outcome: "firstHash", hash });
    });
    fc.assert(property, { numRuns: inject("everything") ? 2_000 : 600 });
  });
});
