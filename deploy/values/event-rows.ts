import { deletionBlockedEvent } from "../../src/controllers/owner-references/texts.ts";
import { collectorTexts } from "../../src/controllers/pinned-copies/texts.ts";
import { eventTexts, refusedTexts } from "../../src/controllers/rollout/report/event-texts.ts";
import { oldFinalizerWarning } from "../../src/domain/model/old-finalizer.ts";
import { holdTexts } from "../../src/domain/pacing/hold-texts.ts";
import { unusableCopies } from "../../src/domain/pinning/pinned-lookup.ts";
import type { ConfigName } from "../../src/domain/references/references.ts";
import {
  crossNamespaceTexts,
  invalidAnnotationTexts,
  overLimitText,
} from "../../src/domain/references/warning-texts.ts";
import { formatDuration } from "../../src/domain/syntax/duration.ts";
import { formatCount } from "../../src/domain/syntax/wording.ts";
import { leaderEventText } from "../../src/manager/leader-election/leader-election.ts";
import { type CellsOf, shownText, type TextTable, textRows } from "./text-tables.ts";

type Rows = readonly (readonly string[])[];

/** Returns a row of a page of Events. */
function event(reason: string, text: string | ((...parts: string[]) => string), advice: string): readonly string[] {
  return [`\`${reason}\``, `\`${shownText(text)}\``, advice];
}

/** Returns the rows of one reason. */
function events<T extends TextTable>(reason: string, texts: T, advice: CellsOf<T>): Rows {
  return textRows(texts, advice).map((cells) => [`\`${reason}\``, ...cells]);
}

/** What Wave did. */
export const actionRows: Rows = [
  event(
    "ConfigChanged",
    eventTexts.rolloutStarted,
    "Wave wrote another hash, and Kubernetes creates new Pods. The text names what changed, by key",
  ),
  event(
    "ConfigHashAdded",
    eventTexts.hashAdded,
    "Wave wrote the first hash. Running Pods are replaced, unless the pod template belongs to another object or stays unchanged",
  ),
  event("ConfigRecorded", eventTexts.recorded, "Wave recorded the current configuration as what the Pods run"),
  event(
    "SchedulingEnabled",
    eventTexts.schedulingEnabled,
    "the missing objects exist now, or the workload has opted out: its Pods are scheduled",
  ),
  event("Unpaused", eventTexts.unpaused, "Wave unpaused a Deployment that Reloader left paused"),
  event("LeaderElection", leaderEventText, "on the Lease: a replica became the leader"),
];

const workload = { kind: "Deployment", namespace: "…", name: "…" } as const;
const object: ConfigName = { kind: "ConfigMap", namespace: "…", name: "…" };

/** Durations and a count that stand for any. */
const [shortMs, longMs, times] = [1_234_000, 5_678_000, 1_234];

/** Returns a text with `…` instead of the durations and the count above. */
function varying(text: string): string {
  return [formatDuration(shortMs), formatDuration(longMs), formatCount(times)].reduce(
    (shown, part) => shown.replaceAll(part, "…"),
    text,
  );
}

const holds: Readonly<Record<keyof typeof holdTexts, Rows>> = {
  observed: [
    event(
      "RolloutHeld",
      eventTexts.observed("…", holdTexts.observed("flag")),
      "nothing, or remove the flag `--observe`",
    ),
    event("RolloutHeld", eventTexts.observed("…", holdTexts.observed("workload")), "nothing, or set another `mode`"),
  ],
  invalid: [event("RolloutHeld", holdTexts.invalid, "correct the annotation")],
  holdOnWorkload: [event("RolloutHeld", holdTexts.holdOnWorkload(workload), "release the workload when it may roll")],
  holdOnNamespace: [
    event("RolloutHeld", holdTexts.holdOnNamespace(workload), "release the Namespace when its workloads may roll"),
  ],
  holdOnObjects: [
    event("RolloutHeld", holdTexts.holdOnObjects("…", [object], "…"), "release the object when its workloads may roll"),
  ],
  approval: [event("RolloutHeld", holdTexts.approval(workload, "…", undefined), "look at the change, and approve it")],
  window: [event("RolloutHeld", holdTexts.window("flag", "…", "…"), "wait until the window opens")],
  settling: [event("RolloutHeld", varying(holdTexts.settling(shortMs, longMs)), "wait")],
  reverted: [
    event(
      "RolloutHeld",
      varying(holdTexts.reverted("…", shortMs)),
      "stop the other client from changing Wave annotations",
    ),
  ],
  revertedTooOften: [
    event(
      "RolloutHeld",
      varying(holdTexts.revertedTooOften("…", times)),
      "stop the other client from changing Wave annotations",
    ),
  ],
  interval: [
    event("RolloutHeld", varying(holdTexts.interval(shortMs, "min-interval")), "wait"),
    event("RolloutHeld", varying(holdTexts.interval(shortMs, "consecutive rollouts")), "wait, and edit less often"),
  ],
  progressing: [
    event(
      "RolloutHeld",
      varying(holdTexts.progressing(shortMs)),
      "wait; if no Pod becomes available, check the new Pods",
    ),
  ],
  batch: [event("RolloutHeld", holdTexts.batch(object, "…"), "wait for the other workloads")],
  halted: [event("RolloutHalted", holdTexts.halted(object, "…"), "fix the configuration, or run `wave resume`")],
};

/** What a workload waits for. */
export const waitRows: Rows = [
  event("ConfigMissing", eventTexts.configMissing, "create the object, or make the reference `optional`"),
  event("SchedulingDisabled", eventTexts.podsPending, "create the object, or make the reference `optional`"),
  ...Object.values(holds).flat(),
  event(
    "RolloutHalted",
    eventTexts.changeHalted("", "…", "you run: wave resume …"),
    "on the ConfigMap or Secret: fix the configuration, or run `wave resume`",
  ),
];

const refused: CellsOf<typeof refusedTexts> = {
  hashRemovedOnWrite: ["take the step in the text: the schema of a custom kind, or a webhook, removes the hash"],
  annotationRemovedOnWrite: [
    "take the step in the text; the Deployment is the template source in a Rollout's `workloadRef`",
  ],
  forbiddenToWrite: ["add the missing role ([permissions](permissions.md))"],
  forbiddenToRead: ["add the missing role ([permissions](permissions.md))"],
  refusedWrite: [
    "the API server, a webhook or a policy rejects the write, for the reason in the text. Fix the policy or the pod template. Wave retries within 5 minutes, and at once after an edit",
  ],
  jobWithFinalizers: ["remove the finalizers, or replace the Job"],
  jobNotRecreated: ["create the Job from its manifest"],
};

const invalid: CellsOf<typeof invalidAnnotationTexts> = {
  misspelt: ["correct the name"],
  unknown: ["use one of the names in the text"],
  moreUnknown: ["correct the names in the earlier sentences; Wave then shows more names"],
  onTemplate: ["move the annotation to the `metadata` of the workload"],
  moreOnTemplate: ["the same"],
  onlyOnConfig: ["move the annotation to the ConfigMap or Secret"],
  holdingValue: ["write a value that the text names"],
  ignoredValue: ["write a value that the text names"],
  unclearOptIn: ['write "true" or "false"'],
  invalidEntry: ["correct the entry"],
  invalidEntries: ["correct the entries"],
  invalidNames: ["correct the name; this is one of SAP's annotations"],
  invalidPattern: ["correct the expression; this is one of Stakater's annotations"],
  tooManyPatterns: ["use fewer or shorter patterns"],
  invalidPause: ["write a duration"],
  contradiction: ["remove one of the annotations"],
  templateSourceMissing: ["create the object in the text, which has the pod template ([kinds](kinds.md))"],
  templateSourceUnsupported: ["refer to a Deployment ([kinds](kinds.md))"],
};

const crossNamespace: CellsOf<typeof crossNamespaceTexts> = {
  unshared: ["share the object with [`shared-with`](annotations.md)"],
  off: ["set `--cross-namespace=granted`"],
  unwatched: ["add the namespace to `--namespaces`"],
};

/** What is wrong. */
export const problemRows: Rows = [
  ...events("RolloutFailed", refusedTexts, refused),
  ...events("InvalidAnnotation", invalidAnnotationTexts, invalid),
  ...events("CrossNamespaceRefused", crossNamespaceTexts, crossNamespace),
  event("OverLimit", overLimitText, "see [limits](limits.md)"),
  event(
    "OldFinalizer",
    deletionBlockedEvent("…").message,
    "grant Wave's account the permission in the text: a policy or a webhook rejects the write, or a role is missing ([owner references](owner-references.md))",
  ),
  event(
    "OldFinalizer",
    oldFinalizerWarning.message,
    "run Wave with `--migrate-legacy` until no object has the finalizer",
  ),
  ...events(
    "PinsKept",
    { kept: "New Pods read the pinned content of …: the change is not rolled yet." },
    { kept: ["nothing: Wave rolls the change when no hold applies"] },
  ),
  ...events(
    "RolledBack",
    {
      back: "Rolled back: Pods read the earlier content of …. Wave does not roll to the live content until it changes, or until you run wave resume.",
    },
    { back: ["fix the ConfigMap, or run `wave resume` to roll to its live content"] },
  ),
  event(
    "Unpinned",
    "Not pinned: …. New Pods read live configuration.",
    "correct what the text names; otherwise new Pods may read a change before its rollout",
  ),
  event(
    "Unpinned",
    "The earlier revision has no pinned configuration. New Pods read the live configuration.",
    "check that the live configuration fits the earlier revision",
  ),
  event("Unpinned", unusableCopies(["…"]).message, "check that the live configuration fits the Pods"),
  event(
    "PinnedCopiesOverLimit",
    collectorTexts.copiesOverLimit("…", "…"),
    "lower `revisionHistoryLimit` of the workloads in the namespace, or pin fewer workloads. Wave keeps copies that Pods use",
  ),
];
