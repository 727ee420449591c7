import { isDeepStrictEqual } from "node:util";
import { type Admitted, admitted, planAdmission } from "../../domain/admission.ts";
import { hasPrecondition, uncheckedPrecondition } from "../../domain/admission-precondition.ts";
import { askersOf } from "../../domain/compatibility/directives.ts";
import { foreignHash, foreignNames } from "../../domain/compatibility/peer-annotations.ts";
import type { CompatibilitySettings } from "../../domain/compatibility/settings.ts";
import { builtInKinds } from "../../domain/model/built-in-kinds.ts";
import { isOfKind, standardForm } from "../../domain/model/kind-row.ts";
import { invalidScheduler } from "../../domain/model/scheduling-hold.ts";
import { type WorkloadObject, type WorkloadRow, workloadIfAny } from "../../domain/model/workload.ts";
import { sourceOf } from "../../domain/model/workload-references.ts";
import type { Lookup } from "../../domain/plan/plan.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { annotationPrefix, configHash } from "../../domain/references/annotations.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import { admissionMetrics } from "../../telemetry/catalogue/webhooks.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { reviewsOfNamespace } from "../server/admission-limits.ts";
import type { AdmissionAnswer, AdmissionRequest, AdmittedObject } from "../server/review.ts";
import type { Reviewer } from "../server/server.ts";
import { type LiveConfiguration, liveConfiguration } from "./live-configuration.ts";

/** What admission needs. */
export interface AdmissionOptions {
  readonly client: ApiClient;
  readonly policy: Policy;
  /** What the caches hold: it tells what is granted to whom. */
  readonly cached: Lookup;
  /** The kinds of workload that are there; undefined: the built-in ones. */
  readonly kinds?: (() => readonly WorkloadRow[]) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

/**
 * Decides on workloads by `planAdmission`, from the ConfigMaps and Secrets as they are at this moment: a cache can be
 * a moment behind a client that creates a ConfigMap and then its Deployment. Writes nothing and sends no Event.
 *
 * The answer is to allow, but where the request has a precondition of its own that fails. Where the configuration cannot be read the workload stays as it is and a warning says
 * so; the controller then does what admission would have done.
 */
export function createReviewer(options: AdmissionOptions): Reviewer {
  const { clock, log, metrics } = options;
  const reviews = metrics.counter(admissionMetrics.reviews, { kind: [...builtInKinds.map(({ id }) => id), "other"] });
  const seconds = metrics.histogram(admissionMetrics.duration);
  const read = liveConfiguration(options);
  /** How many reviews are under way, by namespace. */
  const underWay = new Map<string, number>();
  const reviewInTurn = async (request: AdmissionRequest): Promise<Reviewed> => {
    const { namespace } = request;
    if (isOptedInByNobody(request, options)) return { patch: undefined, warnings: [], outcome: "ignored" };
    const others = underWay.get(namespace) ?? 0;
    if (others >= reviewsOfNamespace)
      return passing("many of its namespace come at the same time", workloadIn(request.object), options.policy);
    underWay.set(namespace, others + 1);
    try {
      return await review(request, read, options);
    } finally {
      const left = (underWay.get(namespace) ?? 1) - 1;
      if (left > 0) underWay.set(namespace, left);
      else underWay.delete(namespace);
    }
  };
  return async (request) => {
    const start = clock.monotonic();
    const { outcome, ...answer } = await reviewInTurn(request);
    seconds.observe((clock.monotonic() - start) / 1000);
    const kind = rowOf(request, options)?.id ?? "other";
    reviews.inc({ kind, operation: operationOf(request) ?? "other", outcome });
    const { namespace, name } = request;
    const fields = { kind: request.kind.kind, namespace, name, operation: request.operation, outcome };
    (answer.patch ? log.info : log.debug)("reviewed a workload", fields);
    return answer;
  };
}

type Outcome = ReturnType<typeof planAdmission>["outcome"] | "unread" | "unknown";

type Reviewed = AdmissionAnswer & { readonly outcome: Outcome };

/** Of what admission leaves to the controller, unless the request itself demands that somebody looks. */
function passing(why: string, object: WorkloadObject | undefined, policy: Policy): Reviewed {
  const denied = object && uncheckedPrecondition(object, policy, why);
  if (denied !== undefined) return { patch: undefined, warnings: [], denied, outcome: "denied" };
  return {
    patch: undefined,
    warnings: [`Wave lets this through unchanged and looks at it later: ${why}`],
    outcome: "unread",
  };
}

async function review(
  request: AdmissionRequest,
  read: LiveConfiguration,
  options: AdmissionOptions,
): Promise<Reviewed> {
  const row = rowOf(request, options);
  const operation = operationOf(request);
  const object = workloadIn(request.object);
  if (row === undefined || operation === undefined || object === undefined || request.subResource !== "") {
    const what = [request.operation, request.kind.kind, request.subResource].filter((part) => part !== "").join(" ");
    const warnings = [`Wave's webhook was called for "${what}" and has nothing to do with it: check its rules`];
    return { patch: undefined, warnings, outcome: "unknown" };
  }
  const oldObject = workloadIn(request.oldObject);
  if (oldObject !== undefined && concernsNoPod(row, object, oldObject, options.policy.compatibility)) {
    return { patch: undefined, warnings: [], outcome: "current" };
  }
  // Its Pods are made of another object's template, and its hash, which is beside it, replaces none of them.
  if (row.borrowing?.templateSourceOf(object) !== undefined)
    return { patch: undefined, warnings: [], outcome: "current" };
  let after: Admitted;
  let lookup: Lookup;
  try {
    after = admitted(row, object, options.policy);
    lookup = await read(after.workload);
  } catch (error) {
    const { namespace, name } = request;
    const fields = { kind: row.id, namespace, name, error: errorText(error) };
    options.log.warn("cannot read what a workload references; it is let through unchanged", fields);
    // Without the cause: that is the API server's own words, and for the log.
    return passing(error instanceof Error ? error.message : "see Wave's log", object, options.policy);
  }
  // What was malformed before has no Pods of which anything is known: this makes its first ones.
  const wasOne = oldObject && workloadIfAny(row, oldObject, options.policy) !== undefined;
  const before = wasOne ? admitted(row, oldObject, options.policy) : undefined;
  const plan = planAdmission(operation, after, before, lookup, options.policy);
  const { patch, warnings, outcome, denied } = plan;
  return { patch, warnings: warnings.map(({ message }) => message), outcome, denied };
}

/**
 * Whether it is one of the many new workloads for which the API server asks only because no condition can tell what their
 * Namespaces say. Others wait for nothing because of them.
 */
function isOptedInByNobody(request: AdmissionRequest, options: AdmissionOptions): boolean {
  const { ofNamespace, compatibility, providerClasses } = options.policy;
  const object = workloadIn(request.object);
  if (object === undefined || request.operation !== "CREATE" || request.subResource !== "") return false;
  const row = rowOf(request, options);
  if (row === undefined) return false;
  const standard = standardIfAny(row, object);
  if (standard === undefined) return false;
  if (compatibility !== undefined && askersOf(sourceOf(standard), { compatibility, providerClasses }) !== undefined)
    return false;
  if (Object.keys(annotationsForWave(object, compatibility)).length > 0 || ofNamespace?.(request.namespace)?.optsIn)
    return false;
  return standard.spec?.template?.spec?.schedulerName !== invalidScheduler;
}

/** The kind of workload that a request is about. */
function rowOf({ kind }: AdmissionRequest, { kinds }: Pick<AdmissionOptions, "kinds">): WorkloadRow | undefined {
  const said = { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind };
  return (kinds?.() ?? builtInKinds).find((row) => isOfKind(said, row));
}

function operationOf({ operation }: AdmissionRequest): "CREATE" | "UPDATE" | undefined {
  return operation === "CREATE" || operation === "UPDATE" ? operation : undefined;
}

/** The API server has checked the object's types before it asks; whatever else is wrong, `admitted` finds. */
function workloadIn(object: AdmittedObject | undefined): WorkloadObject | undefined {
  return object as WorkloadObject | undefined;
}

/** Undefined where its pod template is none: that is told by whoever needs it. */
function standardIfAny(row: WorkloadRow, object: WorkloadObject): WorkloadObject | undefined {
  try {
    return standardForm(row, object);
  } catch {
    return undefined;
  }
}

/**
 * Whether an UPDATE is of no interest, so that nothing has to be read: the pod template has its hash and is not gated,
 * and neither it nor any annotation for Wave is changed. `planAdmission` never patches such a one.
 */
export function concernsNoPod(
  row: WorkloadRow,
  object: WorkloadObject,
  oldObject: WorkloadObject,
  compatibility?: CompatibilitySettings,
): boolean {
  const template = standardIfAny(row, object)?.spec?.template;
  const hashes = [configHash, foreignHash(compatibility?.understood) ?? configHash];
  return (
    hashes.some((name) => template?.metadata?.annotations?.[name] !== undefined) &&
    template?.spec?.schedulerName !== invalidScheduler &&
    !hasPrecondition(object, compatibility) &&
    isDeepStrictEqual(annotationsForWave(object, compatibility), annotationsForWave(oldObject, compatibility)) &&
    isDeepStrictEqual(template, standardIfAny(row, oldObject)?.spec?.template)
  );
}

function annotationsForWave(
  { metadata }: WorkloadObject,
  compatibility: CompatibilitySettings | undefined,
): Readonly<Record<string, string>> {
  const all = Object.entries(metadata?.annotations ?? {});
  const others = foreignNames(compatibility?.understood);
  return Object.fromEntries(all.filter(([name]) => name.startsWith(annotationPrefix) || others.includes(name)));
}
