import { isDeepStrictEqual } from "node:util";
import { readConfig } from "../cache/live-configs.ts";
import type { ApiClient } from "../kube/client.ts";
import type { Clock } from "../lib/clock.ts";
import { type Admitted, admitted, planAdmission } from "../rollout/admission.ts";
import { annotationPrefix, configHash } from "../rollout/annotations.ts";
import { objectsToRead } from "../rollout/cross-namespace.ts";
import type { Config } from "../rollout/digest.ts";
import type { Lookup } from "../rollout/plan.ts";
import type { Policy } from "../rollout/policy.ts";
import { configKey, parseConfigKey } from "../rollout/references.ts";
import { invalidScheduler } from "../rollout/scheduling-gate.ts";
import { type Workload, type WorkloadObject, workloadKinds } from "../rollout/workload.ts";
import { errorText } from "../telemetry/error-text.ts";
import type { Logger } from "../telemetry/log.ts";
import type { MetricsRegistry } from "../telemetry/metrics.ts";
import type { AdmissionAnswer, AdmissionRequest, AdmittedObject } from "./review.ts";
import type { Reviewer } from "./server.ts";
import { sharedReads } from "./shared-reads.ts";

/** What admission needs. */
export interface AdmissionOptions {
  readonly client: ApiClient;
  readonly policy: Policy;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

/**
 * Decides on workloads by `planAdmission`, from the ConfigMaps and Secrets as they are at this moment: a cache can be
 * a moment behind a client that creates a ConfigMap and then its Deployment. Writes nothing and sends no Event.
 *
 * The answer is always to allow. Where the configuration cannot be read the workload stays as it is and a warning says
 * so; the controller then does what admission would have done.
 */
export function createReviewer(options: AdmissionOptions): Reviewer {
  const { clock, log, metrics } = options;
  const reviews = metrics.counter("wave_admission_reviews_total", "Admission reviews answered, by what came of them.", [
    "kind",
    "operation",
    "outcome",
  ]);
  const seconds = metrics.histogram(
    "wave_admission_duration_seconds",
    "Seconds from an admission review's arrival to its answer.",
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  );
  const read = sharedReads((key) => readConfig(options.client, parseConfigKey(key), readTimeoutMs));
  return async (request) => {
    const start = clock.monotonic();
    const { outcome, ...answer } = await review(request, read, options);
    seconds.observe((clock.monotonic() - start) / 1000);
    const kind = workloadKinds.find((known) => known === request.kind.kind) ?? "other";
    reviews.inc({ kind, operation: operationOf(request) ?? "other", outcome });
    const { namespace, name } = request;
    const fields = { kind: request.kind.kind, namespace, name, operation: request.operation, outcome };
    (answer.patch ? log.info : log.debug)("reviewed a workload", fields);
    return answer;
  };
}

type Outcome = ReturnType<typeof planAdmission>["outcome"] | "unread" | "unknown";

async function review(
  request: AdmissionRequest,
  read: ConfigReader,
  options: AdmissionOptions,
): Promise<AdmissionAnswer & { readonly outcome: Outcome }> {
  const kind = workloadKinds.find((known) => known === request.kind.kind);
  const operation = operationOf(request);
  const object = workloadIn(request.object);
  if (kind === undefined || operation === undefined || object === undefined || request.subResource !== "") {
    const what = [request.operation, request.kind.kind, request.subResource].filter((part) => part !== "").join(" ");
    const warnings = [`Wave's webhook was called for "${what}" and has nothing to do with it: check its rules`];
    return { patch: undefined, warnings, outcome: "unknown" };
  }
  const oldObject = workloadIn(request.oldObject);
  if (oldObject !== undefined && concernsNoPod(object, oldObject)) {
    return { patch: undefined, warnings: [], outcome: "unchanged" };
  }
  let after: Admitted;
  let lookup: Lookup;
  try {
    after = admitted(object);
    lookup = await readConfiguration(after.workload, read, options.policy);
  } catch (error) {
    options.log.warn("cannot read what a workload references; it is let through unchanged", {
      workload: `${kind} ${request.namespace}/${request.name}`,
      error: errorText(error),
    });
    const warnings = [`Wave lets this through unchanged and looks at it later: ${errorText(error)}`];
    return { patch: undefined, warnings, outcome: "unread" };
  }
  const before = oldObject && admitted(oldObject);
  const { patch, warnings, outcome } = planAdmission(operation, after, before, lookup, options.policy);
  return { patch, warnings: warnings.map(({ message }) => message), outcome };
}

function operationOf({ operation }: AdmissionRequest): "CREATE" | "UPDATE" | undefined {
  return operation === "CREATE" || operation === "UPDATE" ? operation : undefined;
}

/** The API server has checked the object's types before it asks; whatever else is wrong, `admitted` finds. */
function workloadIn(object: AdmittedObject | undefined): WorkloadObject | undefined {
  return object as WorkloadObject | undefined;
}

/**
 * Whether an UPDATE is of no interest, so that nothing has to be read: the pod template has its hash and is not gated,
 * and neither it nor any annotation for Wave is changed. `planAdmission` never patches such a one.
 */
export function concernsNoPod(object: WorkloadObject, oldObject: WorkloadObject): boolean {
  const template = object.spec?.template;
  return (
    template?.metadata?.annotations?.[configHash] !== undefined &&
    template.spec?.schedulerName !== invalidScheduler &&
    isDeepStrictEqual(annotationsForWave(object), annotationsForWave(oldObject)) &&
    isDeepStrictEqual(template, oldObject.spec?.template)
  );
}

function annotationsForWave({ metadata }: WorkloadObject): Readonly<Record<string, string>> {
  const all = Object.entries(metadata?.annotations ?? {});
  return Object.fromEntries(all.filter(([name]) => name.startsWith(annotationPrefix)));
}

/** Reads an object by the key that `configKey` gives; undefined where it does not exist. */
type ConfigReader = (key: string) => Promise<Config | undefined>;

/** Reads every object that the decision looks at, all at once. */
async function readConfiguration(workload: Workload, read: ConfigReader, policy: Policy): Promise<Lookup> {
  const keys = objectsToRead(workload, policy).map(configKey);
  const configs = await Promise.all(keys.map(read));
  const found = new Map(keys.map((key, index) => [key, configs[index]]));
  return (configKind, namespace, name) => found.get(configKey({ kind: configKind, namespace, name }));
}

/**
 * Of one read. With another one to wait for this makes two seconds at most, well inside the API server's patience of
 * five.
 */
const readTimeoutMs = 1000;
