import { expect, it } from "vitest";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  unpaced,
  workload,
} from "../../../test/support/domain/objects.ts";
import type { Workload } from "../model/workload-shape.ts";
import { writeCause } from "../pacing/cause.ts";
import { writeFailedAlert } from "../pacing/rollout-result.ts";
import { incompleteMark } from "../pacing/rollout-time.ts";
import { toNamespacePolicy } from "../policy/policy.ts";
import { rulesFor } from "../policy/rules.ts";
import { isHaltedFor } from "./stored-batches.ts";

const changedAt = 1_000;
const now = (changedAt + 3_600) * 1_000;
const policy = { ...defaultPolicy, pacing: { ...unpaced, maxConcurrent: 5, haltAfterFailures: 3 } };
const pageOf = (a: string) => lookupOf({ ...configMap("page", { a }), changedAt });
const live = pageOf("2");
const hashOf = (a: string) => (planRollout(reader("web"), pageOf(a), policy) as { readonly hash: string }).hash;

function reader(name: string, annotations: Record<string, string> = {}): Workload {
  return workload({ pod: readsAll("ConfigMap", "page"), metadata: { name }, annotations });
}

/** Returns a workload whose Pods read the content before the change. */
function due(name: string, annotations: Record<string, string> = {}): Workload {
  const progress = { state: "complete", since: changedAt - 50 } as const;
  return { ...reader(name, annotations), recordedHash: hashOf("1"), rolledAt: changedAt - 60, progress };
}

/** Returns a workload that was rolled after the change. */
function rolled(name: string, progress: Workload["progress"], rolledAt = changedAt + 30): Workload {
  return { ...reader(name), recordedHash: hashOf("2"), rolledAt, progress };
}

const causeOf = (hash: string) => writeCause(hash, { at: 0, why: "", edits: [], heldBy: undefined });

const failed = { state: "failed" } as const;
const alerted = (rollout: Workload) => ({ ...rollout, failedAlert: writeFailedAlert(rollout, "Errors") });
const complete = { state: "complete", since: changedAt + 60 } as const;
const web = due("web");
const resumed = (seconds: number) => due("web", { "wave.pusher.com/resumed": new Date(seconds * 1_000).toISOString() });

const heldValidator = {
  ...due("check", { "wave.pusher.com/validator": "true", "wave.pusher.com/mode": "approve" }),
  hashWrittenAt: changedAt - 60,
};

const checked = {
  ...rolled("check", failed, changedAt - 30),
  policy: { validator: "true" },
  consecutiveRollouts: "1",
};
const refusing = { ...checked, hashWrittenAt: changedAt - 30 };
const passing = { ...refusing, progress: { state: "complete", since: changedAt - 20 } as const };

const rulesOf = (reader: Workload) => rulesFor(reader, policy);

const cases: readonly [string, Workload, readonly Workload[], boolean][] = [
  ["the canary failed", web, [rolled("canary", failed), due("other")], true],
  ["the canary failed in the second of the change", web, [rolled("canary", failed, changedAt), due("other")], true],
  [
    "the canary made no progress until its deadline",
    web,
    [rolled("canary", { state: "progressing", step: 0, available: 1 })],
    true,
  ],
  ["an alert began to fire while the canary soaked", web, [alerted(rolled("canary", complete)), due("other")], true],
  ["the canary is complete", web, [rolled("canary", complete)], false],
  [
    "the canary failed with another content",
    web,
    [{ ...rolled("canary", failed, changedAt - 30), recordedHash: hashOf("0") }],
    false,
  ],
  ["the canary failed, and the object got a label since", web, [rolled("canary", failed, changedAt - 30)], true],
  [
    "the canary failed, and the object got a label since, and the canary an annotation",
    web,
    [{ ...rolled("canary", failed, changedAt - 30), templateEditedAt: changedAt, cause: causeOf(hashOf("2")) }],
    true,
  ],
  [
    "another client changed the canary together with the object",
    web,
    [{ ...rolled("canary", failed, changedAt - 30), templateEditedAt: changedAt, cause: causeOf(hashOf("1")) }],
    false,
  ],
  [
    "a workload failed before the hash was written that must be replaced",
    { ...web, hashWrittenAt: changedAt - 29 },
    [rolled("canary", failed, changedAt - 30)],
    false,
  ],
  ["a workload failed with the hash of another client", web, [rolled("canary", failed, 0)], false],
  ["nothing was rolled yet", web, [due("canary")], false],
  ["too few failed after the canary", web, [rolled("canary", complete), rolled("other", failed)], false],
  [
    "three failed after the canary",
    web,
    [rolled("canary", complete), ...["a", "b", "c"].map((name) => rolled(name, failed))],
    true,
  ],
  [
    "a workload failed that was not complete before",
    web,
    [{ ...rolled("canary", failed), rolledIncomplete: incompleteMark({ completeBefore: undefined }) }],
    false,
  ],
  ["a person resumed the workload after the failure", resumed(changedAt + 90), [rolled("canary", failed)], false],
  ["a person resumed the workload before the failure", resumed(changedAt + 10), [rolled("canary", failed)], true],
  [
    "the workload takes no part in batches",
    due("web", { "wave.pusher.com/batches": "off" }),
    [rolled("canary", failed)],
    false,
  ],
  ["a validator must check the change first, and waits for approval", web, [heldValidator], true],
  ["a validator refused earlier content, and the change is of a key that it does not read", web, [refusing], true],
  ["a validator passed earlier content, and the change is of a key that it does not read", web, [passing], false],
  ["no other workload is concerned", { ...web, progress: failed }, [], false],
];

it("finds a halt by a canary that reads only a part of the object, by the time of the content", () => {
  const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "page", key: "a" } } }];
  const part = workload({ pod: { containers: [{ name: "web", env }] }, metadata: { name: "canary" } });
  const { hash } = planRollout(part, live, policy) as { readonly hash: string };
  const canary = { ...rolled("canary", failed), references: part.references, recordedHash: hash };
  const object = { kind: "ConfigMap", namespace: "default", name: "page" } as const;
  const labelled = { ...configMap("page", { a: "2" }), changedAt: changedAt + 60 };
  const haltedAt = (editedAt: number) => {
    const lookup = lookupOf({ ...labelled, editedAt });
    return isHaltedFor(web, { object, readers: [web, canary], lookup, rulesOf, now });
  };
  expect([haltedAt(changedAt), haltedAt(changedAt + 60)]).toEqual([true, false]);
});

it.for(cases)("finds whether a change is halted if %s", ([, of, others, halted]) => {
  const object = { kind: "ConfigMap", namespace: "default", name: "page" } as const;
  const facts = { object, readers: [of, ...others], lookup: live, rulesOf, now };
  expect(isHaltedFor(of, facts)).toBe(halted);
});

it.each([
  ["goes on", undefined, false],
  ["is halted with validator-required", { "validator-required": "true" }, true],
])(
  "a change of a key that a validator does not read %s if the validator failed for its own reason",
  (_, annotations, halted) => {
    const namespacePolicyOf = () => annotations && { ...toNamespacePolicy({}), annotations };
    const rulesOf = (reader: Workload) => rulesFor(reader, { ...policy, namespacePolicyOf });
    const object = { kind: "ConfigMap", namespace: "default", name: "page" } as const;
    const readers = [web, { ...refusing, rolledIncomplete: "never" }];
    expect(isHaltedFor(web, { object, readers, lookup: live, rulesOf, now })).toBe(halted);
  },
);
