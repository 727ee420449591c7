import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import { testKeys } from "../../../test/support/domain/hash-keys.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  type WorkloadFixture,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import { planAdmission, toAdmissionObject } from "../admission/admission.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { invalidScheduler } from "../model/scheduling-hold.ts";
import { toWorkload } from "../model/workload.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import type { RolloutPlan } from "../outcomes/outcomes.ts";
import { patchFor } from "../patch/workload-patch.ts";
import type { HashKeys } from "../policy/hash-key.ts";
import type { Policy } from "../policy/policy.ts";
import { hashFormat, type ViewEntry, viewOf } from "./hash.ts";

interface Vector {
  readonly name: string;
  readonly entries: readonly {
    readonly kind: "ConfigMap" | "Secret";
    readonly namespace: string;
    readonly name: string;
    readonly key: string;
    readonly state: "value" | "hidden";
    readonly value?: string;
  }[];
  readonly hash: string;
}

const adr = readFileSync(new URL("../../../contributing/adr/0002-hash.md", import.meta.url), "utf8");
const vectors: readonly Vector[] = JSON.parse(/```json\n(.*?)```/s.exec(adr)?.[1] ?? "[]");

function digestOfText(value: string): string {
  return createHash("sha256").update(value, "utf8").digest("binary");
}

function entryOf({ state, value = "", ...name }: Vector["entries"][number]): ViewEntry {
  return { ...name, digest: state === "hidden" ? undefined : digestOfText(value) };
}

// Few letters, so that concatenated parts often collide and entries often repeat.
const part = fc.string({ unit: fc.constantFrom("a", "b", "/", "\0", "\x01", "é"), maxLength: 4 });
const entries: fc.Arbitrary<ViewEntry[]> = fc.array(
  fc.record({
    kind: fc.constantFrom("ConfigMap", "Secret"),
    namespace: part,
    name: part,
    key: part,
    digest: fc.oneof(fc.constant(undefined), part.map(digestOfText)),
  }),
  { maxLength: 5 },
);

function asSet(list: readonly ViewEntry[]): string {
  const texts = list.map((e) => JSON.stringify([e.kind, e.namespace, e.name, e.key, e.digest ?? null]));
  return [...new Set(texts)].sort().join();
}

describe("the hash", () => {
  it("has test vectors in its ADR", () => {
    expect(vectors.length).toBeGreaterThan(3);
  });

  it.each(vectors)("matches the test vector of the ADR: $name", ({ entries, hash }) => {
    expect(viewOf(entries.map(entryOf)).hash).toBe(hash);
  });

  it("does not depend on order or duplicates", () => {
    fc.assert(
      fc.property(entries, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (list, random) => {
        const shuffled = [...list, ...list]
          .map((entry) => ({ entry, at: random.next().value }))
          .sort((a, b) => a.at - b.at)
          .map(({ entry }) => entry);
        expect(viewOf(shuffled)).toEqual(viewOf(list));
      }),
    );
  });

  it("differs exactly if the entries differ", () => {
    fc.assert(
      fc.property(entries, entries, (a, b) => {
        expect(viewOf(a).hash === viewOf(b).hash).toBe(asSet(a) === asSet(b));
      }),
      { numRuns: 500 },
    );
  });

  it.each<[ViewEntry[], ViewEntry[]]>([
    [[entry({ namespace: "ab", name: "c" })], [entry({ namespace: "a", name: "bc" })]],
    [[entry({ name: "a", key: "bc" })], [entry({ name: "ab", key: "c" })]],
    [[entry({})], [entry({ digest: undefined })]],
    [[entry({ key: "a", digest: undefined })], []],
    [[entry({ kind: "Secret" })], [entry({ kind: "ConfigMap" })]],
  ])("distinguishes entries whose concatenation is equal (%#)", (a, b) => {
    expect(viewOf(a).hash).not.toBe(viewOf(b).hash);
  });

  it("is recognized by its format alone", () => {
    expect(hashFormat(viewOf([]).hash)).toEqual({ keyId: undefined });
    expect(hashFormat(viewOf([]).hash.slice(3))).toBe("foreign");
    expect(hashFormat(`v3:${"0".repeat(64)}`)).toBe("foreign");
    expect(hashFormat(`v2:${"0".repeat(63)}`)).toBe("foreign");
  });
});

function entry(fields: Partial<ViewEntry>): ViewEntry {
  return { kind: "ConfigMap", namespace: "n", name: "o", key: "k", digest: digestOfText("v"), ...fields };
}

const configHash = "wave.pusher.com/config-hash";
const recordedConfig = "wave.pusher.com/recorded-config";
const schedulingHold = "wave.pusher.com/scheduling-disabled";
const pod = readsAll("ConfigMap", "web");
const now = configMap("web", { a: "1" });
const later = configMap("web", { a: "2" });

/** Returns the hash of a configuration with the current one of these keys. */
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

function withHash(recorded: string, more: WorkloadFixture = {}): WorkloadObject {
  return workloadObject({ pod, templateAnnotations: { [configHash]: recorded }, ...more });
}

function applied(object: WorkloadObject, keys: HashKeys | undefined, config = now): WorkloadObject {
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
    ["without a key, if there is no key", plain, undefined],
    ["without a key, if there is a key now", plain, first],
    ["with the current key", keyed, first],
    ["with the previous key", keyed, testKeys(2, 1)],
  ])(
    "%s stays while it is right, and is replaced with the current key when the configuration changes",
    (_, recorded, keys) => {
      const object = withHash(recorded);
      expect(decide(object, keys).outcome).toBe("current");
      expect(applied(object, keys)).toEqual(object);
      expect(decide(object, keys, later)).toMatchObject({ outcome: "roll", hash: hashOf(later, keys) });
    },
  );

  it.each<[string, HashKeys | undefined]>([
    ["a lost key", testKeys(3, 2)],
    ["a key while the flag is off", undefined],
    ["a key that only this process remembers", testKeys(3, 2, 1)],
  ])("with %s is recorded without new Pods, until the configuration changes", (_, keys) => {
    const object = withHash(keyed);
    const plan = decide(object, keys);
    expect(plan).toMatchObject({ outcome: "recorded", hash: hashOf(now, keys) });
    const withRecord = applied(object, keys);
    expect(withRecord.spec).toEqual(object.spec);
    expect(recordedConfigIn(withRecord)).toBe(`${keyed} ${hashOf(now, keys)}`);
    expect(decide(withRecord, keys).outcome).toBe("current");
    expect(decide(withRecord, keys && { ...keys, remembered: [] }).outcome).toBe("current");
    const rolled = applied(withRecord, keys, later);
    expect([recordedIn(rolled), recordedConfigIn(rolled)]).toEqual([hashOf(later, keys), recordedConfigIn(withRecord)]);
  });

  it("with a key that only this process has still detects a change", () => {
    expect(decide(withHash(keyed), testKeys(3, 2, 1), later).outcome).toBe("roll");
  });

  it("keeps its recorded configuration, whichever keys return", () => {
    const withRecord = applied(withHash(keyed), undefined, later);
    for (const keys of [undefined, first, testKeys(2, 1)]) {
      expect(decide(withRecord, keys, later).outcome).toBe("current");
      expect(decide(withRecord, keys, now).outcome).toBe("roll");
    }
  });

  it("is compared itself if the key of its recorded configuration is lost too", () => {
    const withRecord = applied(withHash(keyed), testKeys(2));
    expect(decide(withRecord, first).outcome).toBe("current");
    expect(decide(withRecord, first, later).outcome).toBe("roll");
    expect(decide(withRecord, testKeys(3)).outcome).toBe("recorded");
  });

  it("restored by a rollback ignores the recorded configuration of another hash", () => {
    const withRecord = applied(withHash(keyed), undefined);
    const other = hashOf(now, testKeys(9));
    const reverted = withHash(other, { annotations: { [recordedConfig]: recordedConfigIn(withRecord) } });
    expect(decide(reverted, undefined, later).outcome).toBe("recorded");
    expect(recordedConfigIn(applied(reverted, undefined, later))).toBe(`${other} ${hashOf(later, undefined)}`);
  });

  it.each(["", "x", `${keyed}`, `${keyed} `, `${keyed} x`, `${plain} ${plain}`])(
    "with an unknown key is recorded again if its recorded configuration is %j",
    (written) => {
      const object = withHash(keyed, { annotations: { [recordedConfig]: written } });
      expect(decide(object, undefined).outcome).toBe("recorded");
      expect(recordedConfigIn(applied(object, undefined))).toBe(`${keyed} ${plain}`);
    },
  );

  it("is not recorded if another configuration was recorded meanwhile", () => {
    const object = withHash(keyed, { annotations: { [recordedConfig]: "x y" } });
    const patch = patchFor(toWorkload(kinds.StatefulSet, object), decide(object, undefined));
    expect(() => patched(withHash(keyed, { annotations: { [recordedConfig]: "y z" } }), patch)).toThrow();
  });

  it("names the changes since a view with another key", () => {
    const seen = decide(withHash(keyed), first);
    const previous = "view" in seen ? seen.view : undefined;
    const workload = toWorkload(kinds.Deployment, withHash(keyed));
    const plan = planRollout(workload, lookupOf(later), policyWith(testKeys(2, 1)), previous);
    expect(plan.reason).toBe('ConfigMap "web" changed (key "a")');
  });
});

describe("the end of a scheduling hold", () => {
  const held = { pod: { ...pod, schedulerName: invalidScheduler }, annotations: { [schedulingHold]: "" } };

  it.each<[string, string, HashKeys]>([
    ["unknown", keyed, testKeys(3)],
    ["previous", keyed, testKeys(3, 1)],
  ])("replaces Pods anyway, so that a hash with the %s key becomes the current one", (_, recorded, keys) => {
    expect(recordedIn(applied(withHash(recorded, held), keys))).toBe(hashOf(now, keys));
  });

  it.each<[string, HashKeys | undefined]>([
    ["unknown", undefined],
    ["previous", testKeys(3, 1)],
  ])("creates no new Pods for a hash with the %s key if only the annotation was left", (_, keys) => {
    const object = withHash(keyed, { annotations: { [schedulingHold]: "" } });
    const after = applied(object, keys);
    expect(after.spec).toEqual(object.spec);
    expect(after.metadata?.annotations).not.toHaveProperty([schedulingHold]);
    expect(decide(after, keys).outcome).toBe("current");
  });
});

describe("admission", () => {
  const image = { containers: [{ name: "web", image: "web:2", envFrom: [{ configMapRef: { name: "web" } }] }] };

  function admit(to: WorkloadObject, from: WorkloadObject | undefined, keys: HashKeys | undefined): WorkloadObject {
    const operation = from === undefined ? "CREATE" : "UPDATE";
    const old = from && toAdmissionObject(kinds.Deployment, from);
    return patched(
      to,
      planAdmission(operation, toAdmissionObject(kinds.Deployment, to), old, lookupOf(now), policyWith(keys)).patch ??
        [],
    );
  }

  it.each<[string, string, HashKeys | undefined]>([
    ["without key", plain, first],
    ["with the previous key", keyed, testKeys(2, 1)],
    ["under an unknown key", keyed, testKeys(3)],
    ["under a key while the flag is off", keyed, undefined],
  ])(
    "gives new Pods the hash with the current key if the hash is %s, and keeps it for running Pods",
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
