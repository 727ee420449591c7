import fc from "fast-check";
import { expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { allCompatibilities, peerObject, settingsWith } from "../../../test/support/domain/compatibility.ts";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import { configMap, lookupOf, secret } from "../../../test/support/domain/objects.ts";
import type { Config } from "../config/digest.ts";
import { kinds as rows } from "../model/kinds/apps-kinds.ts";
import { toWorkload } from "../model/workload.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import type { DuePlan } from "../outcomes/outcomes.ts";
import { patchFor } from "../patch/workload-patch.ts";
import type { Policy } from "../policy/policy.ts";
import { extraConfigMaps, extraSecrets, updateOnConfigChange } from "../references/annotations.ts";
import type { Compatibility } from "./directive.ts";

const kinds = ["Deployment", "StatefulSet", "DaemonSet"] as const;
const names = ["a", "b", "c"] as const;
const policy: Policy = {
  ...allCompatibilities,
  compatibility: settingsWith({ reloadOnCreate: true, reloadOnDelete: true }),
  firstSight: "roll",
};

/** Annotations of each compatibility that request whole objects with these names. */
const requesting: Readonly<
  Record<Compatibility, (configMaps: string, secrets: string) => Readonly<Record<string, string>>>
> = {
  wave: (configMaps, secrets) => ({
    [updateOnConfigChange]: "true",
    [extraConfigMaps]: configMaps,
    [extraSecrets]: secrets,
  }),
  sap: (configMaps, secrets) => ({
    "pod-reloader.cs.sap.com/configmaps": configMaps,
    "pod-reloader.cs.sap.com/secrets": secrets,
  }),
  stakater: (configMaps, secrets) => ({
    "configmap.reloader.stakater.com/reload": configMaps,
    "secret.reloader.stakater.com/reload": secrets,
  }),
};

/** One workload with annotations of one compatibility, and the decisions about it. */
class Rolled {
  readonly kind: (typeof kinds)[number];
  #object: WorkloadObject;

  constructor(kind: (typeof kinds)[number], annotations: Readonly<Record<string, string>>) {
    this.kind = kind;
    this.#object = peerObject({ kind, annotations });
  }

  /** Plans the workload, and applies the plan if it writes something. */
  plan(configs: readonly Config[]): Pick<DuePlan, "outcome" | "reason"> & { readonly hash: string | undefined } {
    const workload = toWorkload(rows[this.kind], this.#object, policy);
    const plan = planRollout(workload, lookupOf(...configs), policy);
    const patch = patchFor(workload, plan);
    const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));
    if (patch !== undefined) this.#object = asJson(applyJsonPatch(asJson(this.#object), asJson(patch)));
    const { outcome, reason } = plan;
    return { outcome, reason, hash: "view" in plan ? plan.view.hash : undefined };
  }
}

const some = fc.subarray([...names], { minLength: 1 });
const value = fc.constantFrom("1", "2");
/** What every object has at one time: all are there, since Wave waits for what is missing and others do not. */
const state = fc.record({ a: value, b: value, c: value });

it("compatibilities that request the same references decide the same", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      some,
      some,
      fc.array(state, { minLength: 1 }),
      (kind, maps, secrets, states) => {
        const [wave, ...others] = (["wave", "sap", "stakater"] as const).map(
          (compatibility) => new Rolled(kind, requesting[compatibility](maps.join(","), secrets.join(","))),
        );
        for (const each of states) {
          const configs = names.flatMap((name) => [
            configMap(name, { key: each[name] }),
            secret(name, { key: each[name], other: "x" }),
          ]);
          const plan = wave?.plan(configs);
          for (const other of others) expect(other.plan(configs)).toEqual(plan);
        }
      },
    ),
  );
});
