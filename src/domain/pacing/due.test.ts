import { expect, it } from "vitest";
import { defaultPolicy, lookupOf, readsAll, workloadObject } from "../../../test/support/domain/objects.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { toWorkload } from "../model/workload.ts";
import { planRollout } from "../plan/plan.ts";
import { rolloutPolicyOf } from "../policy/rollout-policy.ts";
import { changedObjects } from "./due.ts";

it("if the change is unknown, a missing object may have changed, and a class that no Pod mounts has not", () => {
  const csi = { driver: "secrets-store.csi.k8s.io", volumeAttributes: { secretProviderClass: "vault" } };
  const pod = { ...readsAll("ConfigMap", "gone", true), volumes: [{ name: "vault", csi }] };
  const templateAnnotations = { "wave.pusher.com/config-hash": `v2:${"0".repeat(64)}` };
  const policy = { ...defaultPolicy, providerClasses: true };
  const workload = toWorkload(kinds.Deployment, workloadObject({ pod, templateAnnotations }), policy);
  const decision = planRollout(workload, lookupOf(), policy);
  if (decision.outcome !== "roll") throw new Error(decision.reason);
  const due = { workload, decision, lookup: lookupOf(), policy: rolloutPolicyOf(workload, policy) };
  expect(changedObjects(due).map(({ kind, name }) => `${kind} ${name}`)).toEqual(["ConfigMap gone"]);
});
