// Reviews of workloads (live configuration, the plan of domain/admission, warnings) and of Pods (pinned copies). Knows domain,
// cache and pinning, not TLS and not HTTP.

import type { Pod } from "#kubernetes";
import {
  type AdmissionObject,
  type AdmissionPins,
  annotationsOf,
  pinnedPatch,
  planAdmission,
  toAdmissionObject,
} from "../../domain/admission/admission.ts";
import { uncheckedPrecondition } from "../../domain/admission/mutation.ts";
import { type HaltLookup, withUserAnnotations } from "../../domain/admission/pinned-admission.ts";
import type { Lookup } from "../../domain/config/view-of-references.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { isKubectlUndo } from "../../domain/model/undo-request.ts";
import { toWorkloadIfValid } from "../../domain/model/workload.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { pinTexts } from "../../domain/pinning/pin-request.ts";
import { pinsOf, pointPod } from "../../domain/pinning/pod-pins.ts";
import { isHaltedFor } from "../../domain/plan/stored-batches.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { rulesFor } from "../../domain/policy/rules.ts";
import { configKey } from "../../domain/references/references.ts";
import { isApiFailure } from "../../kube/api/api-failure.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { storeCopies } from "../../pinning/store-copies.ts";
import type { StoreCopiesOptions } from "../../pinning/use-copy.ts";
import { webhookMetrics } from "../../telemetry/catalogue/webhooks.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import type { AdmissionRequest, AdmissionResponse } from "../server/review.ts";
import { maxReviewsPerNamespace, readsTimeoutMs, reviewTimeoutMs } from "../server/review-reader.ts";
import type { Reviewer } from "../server/server.ts";
import { type LiveConfiguration, liveConfiguration } from "./live-configuration.ts";
import {
  cannotAffectPods,
  isNotOptedIn,
  type KindsInCluster,
  operationOf,
  rowOf,
  workloadObject,
} from "./review-request.ts";

/** Options of {@link createReviewer}. */
export interface AdmissionOptions extends Pick<ProcessContext, "clock" | "log" | "metrics"> {
  readonly client: ApiClient;
  readonly policy: Policy;
  /** Reports whether this replica is stopping. Default: never. */
  readonly isStopping?: () => boolean;
  /** Looks up cross-namespace grants in the caches. */
  readonly cached: Lookup;
  /** Returns the cached workloads that read the object with this key, to find halted changes. Default: none. */
  readonly workloadsReading?: ((configKey: string) => readonly Workload[]) | undefined;
  /** The kinds of workload that exist in the cluster. Default: the built-in ones. */
  readonly kinds?: KindsInCluster;
  /** Makes the check of the owners of copies for one review. Default: no owner exists, so that a copy with owners is not used. */
  readonly newOwnerCheck?: (() => StoreCopiesOptions["isAlive"]) | undefined;
  /** Default: no copies are known. */
  readonly copiesIn?: StoreCopiesOptions["copiesIn"] | undefined;
}

/**
 * Decides about workloads with `planAdmission`, from the ConfigMaps and Secrets as they are stored now: a cache can be stale when a
 * client creates a ConfigMap and then its Deployment. Writes nothing and sends no Event.
 *
 * The response allows the request, unless the precondition in the request itself fails. If the configuration cannot be read, the
 * workload stays unchanged and a warning gives the reason. The controller then does what the webhook would have done.
 */
export function createReviewer(options: AdmissionOptions): Reviewer {
  const { clock, log, metrics } = options;
  const reviews = metrics.counter(webhookMetrics.reviews, {
    kind: [...builtInKinds.map(({ id }) => id), "Pod", "other"],
  });
  const seconds = metrics.histogram(webhookMetrics.duration);
  const read = liveConfiguration(options);
  /** Number of reviews in flight, by namespace. */
  const inFlight = new Map<string, number>();
  const reviewWithinLimit = async (request: AdmissionRequest): Promise<ReviewResult> => {
    const { namespace } = request;
    if (createsPod(request)) return reviewPod(request);
    if (isNotOptedIn(request, options.policy, options.kinds))
      return { patch: undefined, warnings: [], outcome: "ignored" };
    const others = inFlight.get(namespace) ?? 0;
    if (others >= maxReviewsPerNamespace)
      return allowUnread(
        "too many requests of this namespace at the same time",
        workloadObject(request.object),
        options.policy,
      );
    inFlight.set(namespace, others + 1);
    try {
      return await review(request, read, options);
    } finally {
      const left = (inFlight.get(namespace) ?? 1) - 1;
      if (left > 0) inFlight.set(namespace, left);
      else inFlight.delete(namespace);
    }
  };
  return async (request) => {
    const start = clock.monotonic();
    const { outcome, ...answer } = await reviewWithinLimit(request);
    seconds.observe((clock.monotonic() - start) / 1000);
    const isPod = createsPod(request);
    const kind = isPod ? "Pod" : (rowOf(request, options.kinds)?.id ?? "other");
    reviews.inc({ kind, operation: operationOf(request) ?? "other", outcome });
    const { namespace, name } = request;
    const fields = { kind: request.kind.kind, namespace, name, operation: request.operation, outcome };
    if (isPod) log.debug("reviewed a Pod", fields);
    else (answer.patch ? log.info : log.debug)("reviewed a workload", fields);
    return answer;
  };
}

type ReviewOutcome = ReturnType<typeof planAdmission>["outcome"] | "pointed" | "unread" | "unknown";

type ReviewResult = AdmissionResponse & { readonly outcome: ReviewOutcome };

/** Allows a workload without a review, which the controller handles later. Denies it if the request has a precondition. */
function allowUnread(why: string, object: WorkloadObject | undefined, policy: Policy): ReviewResult {
  const denied = object && uncheckedPrecondition(object, policy, why);
  if (denied !== undefined) return { patch: undefined, warnings: [], denied, outcome: "denied" };
  return {
    patch: undefined,
    warnings: [`Wave did not change this workload yet: ${why}. The controller handles it later.`],
    outcome: "unread",
  };
}

async function review(
  request: AdmissionRequest,
  read: LiveConfiguration,
  options: AdmissionOptions,
  until = options.clock.monotonic() + reviewTimeoutMs,
  tries = 2,
): Promise<ReviewResult> {
  const row = rowOf(request, options.kinds);
  const operation = operationOf(request);
  const object = workloadObject(request.object);
  if (row === undefined || operation === undefined || object === undefined || request.subResource !== "") {
    const what = [request.operation, request.kind.kind, request.subResource].filter((part) => part !== "").join(" ");
    const warnings = [`Wave's webhook does not review "${what}". Check the rules of its MutatingWebhookConfiguration.`];
    return { patch: undefined, warnings, outcome: "unknown" };
  }
  const oldObject = workloadObject(request.oldObject);
  if (oldObject !== undefined && cannotAffectPods(row, object, oldObject, options.policy.compatibility)) {
    return { patch: undefined, warnings: [], outcome: "current" };
  }
  // A workload with workloadRef: its Pods come from the template of another object, so a hash in its own template replaces none.
  if (row.workloadRef?.templateSourceOf(object) !== undefined)
    return { patch: undefined, warnings: [], outcome: "current" };
  // A workload that was malformed before has no known Pods, so this request creates its first ones.
  const wasWorkload = oldObject && toWorkloadIfValid(row, oldObject, options.policy) !== undefined;
  const before = wasWorkload ? toAdmissionObject(row, oldObject, options.policy) : undefined;
  let after: AdmissionObject;
  let lookup: Lookup;
  try {
    after = toAdmissionObject(row, object, options.policy);
    lookup = await read(
      after.workload,
      options.policy.pinConfig ? [after.workload.pinned, before?.workload.pinned] : [],
      undoneForm(after, before, options.policy),
    );
  } catch (error) {
    const { namespace, name } = request;
    const fields = { kind: row.id, namespace, name, error: errorText(error) };
    options.log.warn(logMessages.configurationUnread, fields);
    // Without the cause: the text of the API server belongs in the log.
    return allowUnread(error instanceof Error ? error.message : "see Wave's log", object, options.policy);
  }
  const isStopping = options.isStopping?.() ?? false;
  const policy = { ...options.policy, isStopping };
  const plan = planAdmission(operation, after, before, lookup, policy, haltLookup(options, lookup));
  const { pins, outcome, denied } = plan;
  const warnings = plan.warnings.map(({ message }) => message);
  if (pins === undefined || request.dryRun) return { patch: plan.patch, warnings, outcome, denied };
  // The garbage collector would delete copies whose owner does not exist yet.
  const owned = before === undefined ? { ...pins, workload: { ...pins.workload, uid: "" } } : pins;
  const leftMs = () => until - options.clock.monotonic();
  const stored = await storePins(owned, options, leftMs());
  if (pins.areRequested) return { patch: plan.patch, warnings, outcome, denied };
  if (stored === "stale") {
    if (tries > 1 && leftMs() >= readsTimeoutMs) return review(request, read, options, until, tries - 1);
    // The controller rolls it after the last change.
    return allowUnread("its ConfigMaps keep changing", object, options.policy);
  }
  if (stored === "unavailable")
    return allowUnread("the API server did not answer Wave in time", object, options.policy);
  const patch = pinnedPatch(plan, after.workload, stored.pinned);
  return { patch, warnings: stored.warning === undefined ? warnings : [...warnings, stored.warning], outcome, denied };
}

/** The pins of new Pods. "stale": a ConfigMap changed during the review. "unavailable": copies cannot be verified in time. */
type StoredPins = { readonly pinned: string | undefined; readonly warning?: string } | "stale" | "unavailable";

/**
 * Stores the copies that the new Pods of a request read, before the response names them. A copy that cannot be stored in time does not
 * deny the request: then the Pods read live configuration, as without pins. If a change must not reach Pods, the request stays as it is: its
 * pod template has the copies that it had before. `timeoutMs` is the time that is left for the review.
 */
async function storePins(
  { workload, sources, lookup, areLive }: AdmissionPins,
  { client, clock, newOwnerCheck = () => async () => false, copiesIn = () => [] }: AdmissionOptions,
  timeoutMs: number,
): Promise<StoredPins> {
  if (sources === undefined) return { pinned: undefined };
  const tooLate = new AbortController();
  const cancel = clock.timer(Math.max(0, timeoutMs), () =>
    tooLate.abort(new Error("storing the copies took too long")),
  );
  try {
    const known = { client, lookup, isAlive: newOwnerCheck(), copiesIn };
    const stored = await storeCopies(workload, sources, { ...known, signal: tooLate.signal });
    if (stored.type === "stale") return "stale";
    return { pinned: stored.pinned, ...(stored.type === "unpinned" && { warning: stored.message }) };
  } catch (error) {
    if (!tooLate.signal.aborted && !isApiFailure(error)) throw error;
    if (!areLive) return "unavailable";
    return { pinned: undefined, warning: pinTexts.notPinned("the API server did not answer Wave in time") };
  } finally {
    cancel();
  }
}

/** Returns the form that `kubectl rollout undo` of a Deployment gets: with the annotations of people from before, it may read other objects. */
function undoneForm(after: AdmissionObject, before: AdmissionObject | undefined, policy: Policy): readonly Workload[] {
  if (before === undefined || !isKubectlUndo(after.sent, before.sent)) return [];
  const metadata = {
    ...after.sent.metadata,
    annotations: withUserAnnotations(annotationsOf(after), annotationsOf(before)),
  };
  return [toAdmissionObject(after.workload.row, { ...after.sent, metadata }, policy).workload];
}

/** Returns the lookup of halted changes. `lookup` has the ConfigMaps of the request as they are stored now. */
function haltLookup({ workloadsReading, policy, clock }: AdmissionOptions, lookup: Lookup): HaltLookup {
  return (workload, name) => {
    const { namespace } = workload;
    const object = { kind: "ConfigMap", namespace, name } as const;
    const readers = workloadsReading?.(configKey(object)).filter((reader) => reader.namespace === namespace) ?? [];
    const rulesOf = (reader: Workload) => rulesFor(reader, policy);
    return isHaltedFor(workload, { object, readers, lookup, rulesOf, now: clock.wall() });
  };
}

function createsPod({ kind, operation, subResource, object }: AdmissionRequest): boolean {
  const isPod = kind.group === "" && kind.kind === "Pod";
  return isPod && operation === "CREATE" && subResource === "" && object !== undefined;
}

/** Points a new Pod at its pinned copies. A Pod with malformed pins stays as it is, so that it reads live configuration. Reads and denies nothing. */
export function reviewPod({ object }: AdmissionRequest): ReviewResult {
  // The API server has checked the types.
  const pod = object as Pod;
  const pins = pinsOf(pod);
  const patch = pins && pointPod(pod, pins);
  return patch === undefined || patch.length === 0
    ? { patch: undefined, warnings: [], outcome: "current" }
    : { patch, warnings: [], outcome: "pointed" };
}
