import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { testKeys } from "../../../test/support/domain/hash-keys.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  type Wanted,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import { admitted, planAdmission } from "../admission.ts";
import { kinds } from "../model/built-in-kinds.ts";
import { invalidScheduler } from "../model/scheduling-hold.ts";
import { toWorkload, type WorkloadObject } from "../model/workload.ts";
import { patchFor } from "../patch/workload-patch.ts";
import { planRollout, type RolloutPlan } from "../plan/plan.ts";
import type { HashKeys } from "../policy/hash-key.ts";
import type { Policy } from "../policy/policy.ts";

const configHash = "wave.pusher.com/config-hash";
const recordedConfig = "wave.pusher.com/recorded-config";
const schedulingHold = "wave.pusher.com/scheduling-disabled";
const pod = readsAll("ConfigMap", "web");
const now = configMap("web", { a: "1" });
const later = configMap("web", { a: "2" });

/** The hash of a moment's configuration, under the current one of these keys. */
function hashOf(config: typeof now, keys: HashKeys | undefined): string {
  const plan = decide(workloadObject({ pod }), keys, config);
  return "hash" in plan ? plan.hash : "";
}

function decide(object: WorkloadObject, keys: HashKeys | undefined, config = now): RolloutPlan {
  return planRollout(toWorkload(kinds.Deployment, object), lookupOf(config), policyWith(keys));
}

function policyWith(hashKeys: HashKeys | undefined): Policy {
  return { ...defaultPolicy, hashKeys };
}

function withHash(recorded: string, more: Wanted = {}): WorkloadObject {
  return workloadObject({ pod, templateAnnotations: { [configHash]: recorded }, ...more });
}

function carriedOut(object: WorkloadObject, keys: HashKeys | undefined, config = now): WorkloadObject {
  const patch = patchFor(toWorkload(kinds.Deployment, object), decide(object, keys, config));
  return patched(object, patch ?? []);
}

function patched(object: WorkloadObject, patch: unknown): WorkloadObject {
  const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));
  return asJson(applyJsonPatch(asJson(object), asJson(patch)));
}

const recordedIn = (object: WorkloadObject) => object.spec?.template?.metadata?.annotations?.[configHash];
const recordedConfigIn = (object: WorkloadObject) => object.metadata?.annotations?.[recordedConfig];

const plain = hashOf(now, undefined);
const keyed = hashOf(now, testKeys(1));
const first = testKeys(1);

describe("a recorded hash", () => {
  it.each<[string, string, HashKeys | undefined]>([
    ["without key, where there is none", plain, undefined],
    ["without key, where there is one by now", plain, first],
    ["under the current key", keyed, first],
    ["under the previous key", keyed, testKeys(2, 1)],
  ])("%s stays while it is right, and rolls to the current key's when configuration changes", (_, recorded, keys) => {
    const object = withHash(recorded);
    expect(decide(object, keys).outcome).toBe("current");
    expect(carriedOut(object, keys)).toEqual(object);
    expect(decide(object, keys, later)).toMatchObject({ outcome: "roll", hash: hashOf(later, keys) });
  });

  it.each<[string, HashKeys | undefined]>([
    ["a lost key", testKeys(3, 2)],
    ["a key while the flag is off", undefined],
    ["a key that only this process remembers", testKeys(3, 2, 1)],
  ])("under %s becomes a baseline without new Pods, which holds until configuration changes", (_, keys) => {
    const object = withHash(keyed);
    const plan = decide(object, keys);
    expect(plan).toMatchObject({ outcome: "recorded", hash: hashOf(now, keys) });
    const adopted = carriedOut(object, keys);
    expect(adopted.spec).toEqual(object.spec);
    expect(recordedConfigIn(adopted)).toBe(`${keyed} ${hashOf(now, keys)}`);
    expect(decide(adopted, keys).outcome).toBe("current");
    expect(decide(adopted, keys && { ...keys, remembered: [] }).outcome).toBe("current");
    const rolled = carriedOut(adopted, keys, later);
    expect([recordedIn(rolled), recordedConfigIn(rolled)]).toEqual([hashOf(later, keys), undefined]);
  });

  it("under a key that only this process remembers still tells that configuration has changed", () => {
    expect(decide(withHash(keyed), testKeys(3, 2, 1), later).outcome).toBe("roll");
  });

  it("has a baseline, once that is noted, whichever keys come back", () => {
    const adopted = carriedOut(withHash(keyed), undefined, later);
    for (const keys of [undefined, first, testKeys(2, 1)]) {
      expect(decide(adopted, keys, later).outcome).toBe("current");
      // The very hash that is recorded cannot be written again.
      expect(decide(adopted, keys, now).outcome).toBe(keys === first ? "recorded" : "roll");
    }
  });

  it("is told itself where its baseline is under a key that was lost too", () => {
    const adopted = carriedOut(withHash(keyed), testKeys(2));
    expect(decide(adopted, first).outcome).toBe("current");
    expect(decide(adopted, first, later).outcome).toBe("roll");
    expect(decide(adopted, testKeys(3)).outcome).toBe("recorded");
  });

  it("that came back by an undo is not told by the baseline of another", () => {
    const adopted = carriedOut(withHash(keyed), undefined);
    const other = hashOf(now, testKeys(9));
    const reverted = withHash(other, { annotations: { [recordedConfig]: recordedConfigIn(adopted) } });
    expect(decide(reverted, undefined, later).outcome).toBe("recorded");
    expect(recordedConfigIn(carriedOut(reverted, undefined, later))).toBe(`${other} ${hashOf(later, undefined)}`);
  });

  it.each(["", "x", `${keyed}`, `${keyed} `, `${keyed} x`, `${plain} ${plain}`])(
    "whose key is unknown is taken anew where its baseline is %j",
    (written) => {
      const object = withHash(keyed, { annotations: { [recordedConfig]: written } });
      expect(decide(object, undefined).outcome).toBe("recorded");
      expect(recordedConfigIn(carriedOut(object, undefined))).toBe(`${keyed} ${plain}`);
    },
  );

  it("fails to be adopted where another baseline was noted meanwhile", () => {
    const object = withHash(keyed, { annotations: { [recordedConfig]: "x y" } });
    const patch = patchFor(toWorkload(kinds.Deployment, object), decide(object, undefined));
    expect(() => patched(withHash(keyed, { annotations: { [recordedConfig]: "y z" } }), patch)).toThrow();
  });

  it("says what changed from what was seen under another key", () => {
    const seen = decide(withHash(keyed), first);
    const previous = "view" in seen ? seen.view : undefined;
    const workload = toWorkload(kinds.Deployment, withHash(keyed));
    const plan = planRollout(workload, lookupOf(later), policyWith(testKeys(2, 1)), previous);
    expect(plan.reason).toBe('ConfigMap "web" changed (key "a")');
  });
});

describe("a scheduling hold that opens", () => {
  const held = { pod: { ...pod, schedulerName: invalidScheduler }, annotations: { [schedulingHold]: "" } };

  it.each<[string, string, HashKeys]>([
    ["unknown", keyed, testKeys(3)],
    ["previous", keyed, testKeys(3, 1)],
  ])("replaces Pods anyway, so that a hash under the %s key becomes the current one", (_, recorded, keys) => {
    expect(recordedIn(carriedOut(withHash(recorded, held), keys))).toBe(hashOf(now, keys));
  });

  it.each<[string, HashKeys | undefined]>([
    ["unknown", undefined],
    ["previous", testKeys(3, 1)],
  ])("and only left its annotation makes no new Pods for a hash under the %s key", (_, keys) => {
    const object = withHash(keyed, { annotations: { [schedulingHold]: "" } });
    const after = carriedOut(object, keys);
    expect(after.spec).toEqual(object.spec);
    expect(after.metadata?.annotations).not.toHaveProperty([schedulingHold]);
    expect(decide(after, keys).outcome).toBe("current");
  });
});

describe("admission", () => {
  const image = { containers: [{ name: "web", image: "web:2", envFrom: [{ configMapRef: { name: "web" } }] }] };

  function admit(to: WorkloadObject, from: WorkloadObject | undefined, keys: HashKeys | undefined): WorkloadObject {
    const operation = from === undefined ? "CREATE" : "UPDATE";
    const old = from && admitted(kinds.Deployment, from);
    return patched(
      to,
      planAdmission(operation, admitted(kinds.Deployment, to), old, lookupOf(now), policyWith(keys)).patch ?? [],
    );
  }

  it.each<[string, string, HashKeys | undefined]>([
    ["without key", plain, first],
    ["under the previous key", keyed, testKeys(2, 1)],
    ["under an unknown key", keyed, testKeys(3)],
    ["under a key while the flag is off", keyed, undefined],
  ])(
    "begins new Pods with the current key's where the hash is %s, and keeps it for those that run",
    (_, hash, keys) => {
      const from = withHash(hash, { annotations: { [recordedConfig]: `${hash} ${plain}` } });
      const to = withHash(hash, { pod: image, annotations: { [recordedConfig]: `${hash} ${plain}` } });
      const after = admit(to, from, keys);
      expect([recordedIn(after), recordedConfigIn(after)]).toEqual([hashOf(now, keys), undefined]);
      expect(admit(after, from, keys)).toEqual(after);
      expect(recordedIn(admit(withHash(hash), undefined, keys))).toBe(hashOf(now, keys));
      const scaled = { ...from, spec: { ...from.spec, replicas: 3 } } as WorkloadObject;
      expect(admit(scaled, from, keys)).toEqual(scaled);
      const dropped = workloadObject({ pod, annotations: { [recordedConfig]: `${hash} ${plain}` } });
      expect(admit(dropped, from, keys)).toEqual(from);
    },
  );
});
