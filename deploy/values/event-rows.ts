import { deletionBlockedEvent } from "../../src/controllers/owner-references/controller.ts";
import { pendingPodText } from "../../src/controllers/pending-pods/report.ts";
import { collectorTexts } from "../../src/controllers/pinned-copies/controller.ts";
import { gateTexts } from "../../src/controllers/rollout/gate/alert-gate.ts";
import { eventTexts, refusedTexts } from "../../src/controllers/rollout/report/event-texts.ts";
import { holdExpiredText, oldFinalizerWarning } from "../../src/domain/model/scheduling-hold.ts";
import { undoTexts } from "../../src/domain/model/undo-request.ts";
import { holdTexts } from "../../src/domain/pacing/hold-texts.ts";
import { flapText, rolloutBlockedText } from "../../src/domain/pacing/interval.ts";
import {
  keptPins,
  keptWithoutKey,
  pinTexts,
  rolledBack,
  undoWithoutPins,
  unusableCopies,
} from "../../src/domain/pinning/pin-request.ts";
import { unprovenText } from "../../src/domain/plan/evidence.ts";
import type { ConfigName } from "../../src/domain/references/references.ts";
import { crossNamespaceTexts, overLimitText, wholeObjectText } from "../../src/domain/references/warning.ts";
import { formatCount } from "../../src/domain/syntax/names.ts";
import { formatDuration } from "../../src/domain/syntax/time.ts";
import { leaderEventText } from "../../src/manager/leader-election/leader-election.ts";
import { type CellsOf, shownText, type TextTable, textRows } from "./text-tables.ts";

type Rows = readonly (readonly string[])[];

/** Returns a row of a page of Events. The advice is for what the text does not have. */
function event(reason: string, text: string | ((...parts: string[]) => string), advice?: string): readonly string[] {
  return [`\`${reason}\``, `\`${shownText(text)}\``, ...(advice === undefined ? [] : [advice])];
}

/** Returns the rows of one reason. */
function events<T extends TextTable>(reason: string, texts: T, advice: CellsOf<T>): Rows {
  return textRows(texts, advice).map((cells) => [`\`${reason}\``, ...cells]);
}

/** Returns the state of an Event: its first sentence of at least four words. The Event itself has the step to take. */
function stateOf(text: string): string {
  return text.replace(/^((?:\S+ ){3,}?\S+)\. .*$/s, "$1…").replace("……", "…");
}

/** What Wave did. */
export const actionRows: Rows = [
  event("ConfigChanged", eventTexts.rolloutStarted, "Kubernetes creates new Pods. The text names the changed keys"),
  event("ConfigChanged", eventTexts.podsKept, "the text names the setting and the step"),
  event("RolloutComplete", eventTexts.rolloutComplete, "as `kubectl rollout status` reports it"),
  event("RolloutResolved", eventTexts.rolloutResolved, ""),
  event("RolloutResolved", eventTexts.haltEnded(""), "on the object"),
  event(
    "ConfigHashAdded",
    eventTexts.hashAdded,
    "running Pods are replaced, unless the pod template stays unchanged or belongs to another object",
  ),
  event("ConfigRecorded", eventTexts.recorded, ""),
  event(
    "ConfigUnproven",
    (toRoll) => unprovenText({ changedAt: 1, podsAt: 1 }, toRoll),
    "[evidence](concepts.md#what-pods-read)",
  ),
  event(
    "SchedulingEnabled",
    eventTexts.schedulingEnabled,
    "the missing objects exist now, or the workload has opted out",
  ),
  event("Unpaused", eventTexts.unpaused, "Reloader left it paused"),
  event("LeaderElection", leaderEventText, "on the Lease"),
  ...Object.values(gateTexts).map((text) => event("AlertsUnknown", text, "on the Lease")),
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

/** Returns the text of a hold that does not end soon by itself. */
function due(hold: string): string {
  return eventTexts.due("…", hold);
}

const holds: Readonly<Record<keyof typeof holdTexts, readonly string[]>> = {
  observed: [due(holdTexts.observed("flag")), due(holdTexts.observed("workload"))],
  clusterHold: [due(holdTexts.clusterHold({ namespace: "…", reason: "…" }))],
  invalid: [due(shownText(holdTexts.invalid))],
  holdOnWorkload: [due(holdTexts.holdOnWorkload(workload))],
  holdOnNamespace: [due(holdTexts.holdOnNamespace(workload))],
  holdOnObjects: [due(holdTexts.holdOnObjects("…", [object]))],
  approval: [due(holdTexts.approval(workload, "…", undefined))],
  window: [due(holdTexts.window("flag", "…", "…"))],
  settling: [varying(holdTexts.settling(shortMs, longMs))],
  reverted: [varying(holdTexts.reverted("…", shortMs))],
  revertedTooOften: [varying(holdTexts.revertedTooOften("…", times))],
  interval: [
    varying(holdTexts.interval(shortMs, "min-interval")),
    varying(holdTexts.interval(shortMs, "consecutive rollouts")),
  ],
  progressing: [varying(holdTexts.progressing(shortMs))],
  alert: [due(holdTexts.alert("…", workload))],
  alertsUnknown: [holdTexts.alertsUnknown],
  alertsRequired: [holdTexts.alertsRequired],
  batch: [holdTexts.batch(object, "…")],
  stuck: [holdTexts.stuck(object, "…", workload, "…")],
  halted: [due(holdTexts.halted(object, "…"))],
  validating: [holdTexts.validating(object, "…", workload, undefined)],
  validatorFailed: [due(holdTexts.validatorFailed(object, "…", workload, undefined))],
  validatorUnusable: [due(holdTexts.validatorUnusable(object, "…", workload, "…"))],
};

/** Returns the beginning of the text of a hold, which names the hold and its end. docs/pacing.md describes all holds. */
function beginningOf(text: string): string {
  return text.replace(
    /^((?:Rollout due: …\. )?(?:\w+ (?:held|halted|removed|rollout is held)|Waiting for))\b.*$/s,
    "$1 …",
  );
}

/** What a workload waits for. */
export const waitRows: Rows = [
  event("ConfigMissing", eventTexts.configMissing),
  event("SchedulingDisabled", eventTexts.podsPending),
  event("SchedulingDisabled", pendingPodText),
  ...new Map(
    Object.entries(holds)
      .flatMap(([hold, texts]) =>
        texts.map(
          (text) =>
            [
              ["halted", "validatorFailed", "validatorUnusable"].includes(hold) ? "RolloutHalted" : "RolloutHeld",
              text,
            ] as const,
        ),
      )
      .map(([reason, text]) => [`${reason} ${beginningOf(text)}`, event(reason, beginningOf(text))]),
  ).values(),
  event(
    "NotValidated",
    eventTexts.notValidated("", "validator …", "…"),
    "on the object: [validators](pacing.md#validators)",
  ),
  event("RolloutHalted", stateOf(eventTexts.changeHalted("", "… failed", "you run: wave resume …"))),
];

const refused: CellsOf<typeof refusedTexts> = {
  hashRemovedOnWrite: [""],
  annotationRemovedOnWrite: ["the Deployment of a Rollout's `workloadRef`"],
  workloadRefNotAllowed: ["[Argo Rollouts](kinds.md#argo-rollouts)"],
  forbiddenToWrite: ["[permissions](security.md#permissions)"],
  forbiddenToRead: ["as above"],
  forbiddenToReplace: ["as above"],
  refusedWrite: ["fix the policy, the webhook or the pod template. Wave retries within 5 minutes, and after an edit"],
  jobWithFinalizers: [""],
  jobNotRecreated: [
    "free the quota, or fix what the text names. Wave uses the [record](kinds.md#cronjobs-and-jobs) of the Job",
  ],
};

const crossNamespace: CellsOf<typeof crossNamespaceTexts> = {
  unshared: ["[`shared-with`](annotations.md)"],
  off: ["set `--cross-namespace=granted`"],
  unwatched: ["add the namespace to `--namespaces`"],
};

/** What is wrong. */
export const problemRows: Rows = [
  event(
    "RolloutStuck",
    eventTexts.rolloutStuck,
    "[stuck](pacing.md#stuck-is-not-failed): Wave waits, and reverts nothing",
  ),
  event("RolloutFailed", eventTexts.rolloutFailed, "Wave does not revert it: [a failed rollout](on-call.md)"),
  ...events("RolloutRefused", refusedTexts, refused).map(([reason = "", text = "", ...notes]) => [
    reason,
    `\`${stateOf(text.slice(1, -1))}\``,
    ...notes,
  ]),
  event(
    "InvalidAnnotation",
    "…",
    "an annotation has an unknown name, an invalid value, the wrong place or no effect. The text names the annotation and the correction",
  ),
  ...events("CrossNamespaceRefused", crossNamespaceTexts, crossNamespace),
  event("OverLimit", overLimitText, "[limits](kinds.md#limits)"),
  event("OverLimit", stateOf(shownText(wholeObjectText)), "[many keys](kinds.md#an-object-with-too-many-keys)"),
  event(
    "OldFinalizer",
    deletionBlockedEvent("…").message,
    "a policy, a webhook or a missing permission: see [owner references](gitops.md#owner-references)",
  ),
  event(
    "OldFinalizer",
    stateOf(oldFinalizerWarning.message).replace("wave.pusher.com/finalizer", "…"),
    "run Wave with `--migrate-legacy` until no object has `wave.pusher.com/finalizer`",
  ),
  event("AnnotationsLost", undoTexts.lost(["…"]), "[rollback](rollouts.md)"),
  event("SchedulingHoldExpired", holdExpiredText("…"), "[scheduling hold](webhooks.md#scheduling-hold)"),
  event("ConfigurationFlaps", flapText("…"), "[alert](alerts.md#waveconfigurationflaps)"),
  event(
    "RolloutBlocked",
    stateOf(rolloutBlockedText("…", "…")),
    "run the command in the text: [rollouts](rollouts.md#a-statefulset-that-a-bad-edit-broke)",
  ),
  event("RolloutReturned", eventTexts.rolloutReturned, "[return](pinning.md#return-after-a-failed-rollout)"),
  event("RolloutReturned", eventTexts.changeReturned, "on the ConfigMap"),
  event("PinsKept", keptPins(["…"]).message, "nothing: Wave rolls the change when no hold applies"),
  event("PinsKept", keptWithoutKey(["…"]).message, ""),
  event("RolledBack", rolledBack(["…"]).message, "[undo](pinning.md#undo)"),
  event(
    "Unpinned",
    pinTexts.notPinned,
    "correct what the text names; otherwise new Pods may read a change before its rollout",
  ),
  event("Unpinned", pinTexts.notPinnedCompletely("…", ["…"]), "as above"),
  event("Unpinned", undoWithoutPins.message, "check that the live configuration fits"),
  event("Unpinned", unusableCopies(["…"]).message, "as above"),
  event("Unpinned", pinTexts.cannotReturn(["…"]), "fix the ConfigMap: Wave rolls the workload to its new content"),
  event(
    "PinnedCopiesOverLimit",
    collectorTexts.copiesOverLimit("…", "…"),
    "or pin fewer workloads. Wave keeps copies that Pods use",
  ),
  event(
    "PinnedCopyLost",
    collectorTexts.copyLost('"…"', '"…"'),
    "[unpin a workload](pinning.md#unpin-a-workload-whose-copy-is-lost)",
  ),
];
