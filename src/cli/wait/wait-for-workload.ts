import { isHalt } from "../../domain/pacing/holds.ts";
import { formatDuration } from "../../domain/syntax/time.ts";
import { listWatch } from "../../kube/list-watch/list-watch.ts";
import { systemClock } from "../../lib/clock.ts";
import { Waker } from "../../runtime/timers.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { type Explanation, explainWorkload } from "../cluster/explanation/explanation.ts";
import type { PodCount } from "../cluster/read/pods.ts";
import { mayRecover } from "../cluster/requests.ts";
import type { KnownPolicy } from "../cluster/running-wave/known-policy.ts";
import type { Published } from "../cluster/snapshot/leader-view.ts";
import { readWorkloadSnapshot } from "../cluster/snapshot/read-one.ts";
import { describePodCount } from "../cluster/states/assess-state.ts";
import { nextOfState, withKubernetesReason } from "../cluster/states/state-rows.ts";
import type { Cluster } from "../command/cluster-command.ts";
import type { NamedObject, WorkloadArgument } from "../command/workload-argument.ts";
import { sentences } from "../output/sentences.ts";

/** Minimum time between two checks of a workload, in milliseconds. */
const minCheckMs = 250;
/** Maximum time between two checks, in milliseconds: no watch reports an edit of a ConfigMap that was reverted. */
const maxCheckMs = 5_000;

/** The input of {@link waitForWorkload}. */
export interface WaitRequest {
  readonly cluster: Cluster;
  readonly policy: KnownPolicy;
  readonly target: WorkloadArgument & NamedObject;
  readonly timeout: AbortSignal;
  /** How long the workload must stay complete, without a restart of a container, in milliseconds. */
  readonly soakMs: number;
  /** Whether to wait also for Pods with another configuration that are being deleted. */
  readonly gone: boolean;
  /** Receives a line whenever the state changes. */
  readonly report: (line: string, progress: WaitCheck["progress"]) => void;
}

/** Resolves with the last check when the workload is done, when only a person can continue, or after the timeout. */
export async function waitForWorkload(request: WaitRequest): Promise<WaitCheck> {
  const { cluster, target, timeout, soakMs, report } = request;
  const ended = new AbortController();
  const changed = new Waker();
  const watching = wakeOnChanges(cluster, target, changed, AbortSignal.any([timeout, ended.signal]));
  try {
    let reported = "";
    const soak = new Soak(soakMs);
    const coverage = new Coverage();
    for (let isFirst = true; ; isFirst = false) {
      const check = soak.afterSoak(await checkWorkload(request, isFirst, coverage), systemClock.monotonic());
      if (check.progress === "done") report(check.message, check.progress);
      if (check.progress !== "open" || timeout.aborted) return check;
      const line = `${check.state}. ${sentences(check.message)}`;
      if (line !== reported) report(line, check.progress);
      reported = line;
      await new Waker().wait(systemClock, minCheckMs, timeout);
      await changed.wait(systemClock, maxCheckMs - minCheckMs, timeout);
    }
  } finally {
    ended.abort();
    await watching;
  }
}

/** Wakes at every change of the workload. Its status shows the progress, and its annotations show what people and Wave write. */
async function wakeOnChanges(
  { client }: Cluster,
  { resource, name, namespace }: NamedObject,
  changed: Waker,
  signal: AbortSignal,
): Promise<void> {
  const events = listWatch({
    client,
    resource,
    namespace,
    fieldSelector: `metadata.name=${name}`,
    clock: systemClock,
    log: silentLogger,
    metrics: new MetricsRegistry(),
    signal,
  });
  for await (const _event of events) changed.wake();
}

/** Checks a workload once. A failure of the first check is final. Later the API server may be unavailable for some time. */
async function checkWorkload(
  { cluster, policy, target, gone }: WaitRequest,
  isFirst: boolean,
  coverage: Coverage,
): Promise<WaitCheck> {
  try {
    const snapshot = await readWorkloadSnapshot(cluster, target, target.namespace, policy);
    const explanation = explainWorkload(snapshot);
    const check = checkOf(explanation, gone);
    if (explanation.judgedAt === null) return check;
    // Without the age of the verdict: each text is printed once.
    if (coverage.includes(snapshot.published))
      return { ...check, message: sentences(check.message, "This is the verdict of Wave") };
    const message = sentences("Waiting for a verdict of Wave that includes every change before this command");
    return { ...check, progress: "open", complete: false, state: "unknown", message, next: "" };
  } catch (error) {
    if (isFirst || !mayRecover(error)) throw error;
    return { progress: "open", complete: false, state: "unknown", message: errorText(error), next: "", restarts: 0 };
  }
}

/** Finds out whether a verdict includes every change before the first check, by the clock of the leader alone. */
class Coverage {
  #first: number | undefined;
  #from: number | undefined;

  includes(published: Published | undefined): boolean {
    if (published === undefined || "why" in published) return false;
    const { renewedAt, upTo } = published;
    this.#first ??= renewedAt;
    // The leader sent the first other renewal after the first check.
    if (renewedAt !== this.#first) this.#from ??= renewedAt;
    return this.#from !== undefined && upTo >= this.#from;
  }
}

/** Returns how many old Pods are being deleted, without a full stop; "" if there are none. */
function describeTerminating({ terminatingOld: count }: PodCount): string {
  if (count === 0) return "";
  return `${count} ${count === 1 ? "Pod" : "Pods"} with another configuration still ${count === 1 ? "terminates" : "terminate"}`;
}

function checkOf(
  { state, optIn, because, message, reason, kubernetes, hold, pods }: Explanation,
  gone: boolean,
): WaitCheck {
  const shared = {
    restarts: pods?.restarts ?? 0,
    state: hold === null ? state : `${state} (${hold.reason})`,
    message: withKubernetesReason(message ?? reason, kubernetes),
    // These messages already give the next step.
    next: ["held", "rolledBack", "unproven"].includes(state) ? "" : nextOfState(state, optIn),
  };
  switch (state) {
    case "current":
      if (pods !== null && (pods.ready < pods.total || (gone && pods.terminatingOld > 0))) {
        const message = sentences(describePodCount(pods), gone ? describeTerminating(pods) : "");
        return { ...shared, progress: "open", complete: true, message, next: "" };
      }
      return {
        ...shared,
        progress: "done",
        complete: true,
        message: pods === null ? "The workload is up to date." : sentences(describePodCount(pods)),
      };
    case "failed":
    case "rolledBack":
    case "unproven":
    case "ignored":
    case "overLimit":
      return { ...shared, progress: "over", complete: true };
    case "held":
      return { ...shared, progress: hold !== null && isHalt(hold) ? "over" : "open", complete: true };
    case "rolling":
    case "stuck":
    case "due":
    case "waiting":
    case "behind":
      return { ...shared, progress: "open", complete: true };
    case "unknown":
      return { ...shared, progress: because === "forbidden" || because === "key" ? "over" : "open", complete: false };
  }
}

/** The time for which a workload must stay complete. Begins again if the workload is not complete, or if a container restarts. */
export class Soak {
  readonly #ms: number;
  #complete: { readonly since: number; readonly restarts: number } | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Returns a check that is done only after the soak time. `now` is monotonic, in milliseconds. */
  afterSoak(check: WaitCheck, now: number): WaitCheck {
    if (check.progress !== "done" || this.#ms === 0) {
      this.#complete = undefined;
      return check;
    }
    if (this.#complete?.restarts !== check.restarts) this.#complete = { since: now, restarts: check.restarts };
    if (now - this.#complete.since >= this.#ms) return check;
    const message = sentences(check.message, `Waiting until this is so for ${formatDuration(this.#ms)}`);
    return { ...check, progress: "open", message };
  }
}

/** The result of one check of a workload. */
export interface WaitCheck {
  /** "open": waiting longer may help. "over": only a person can continue. */
  readonly progress: "done" | "open" | "over";
  /** Whether everything that the result depends on could be read. */
  readonly complete: boolean;
  /** The state with its cause: `held (window)`. */
  readonly state: string;
  readonly message: string;
  /** The next step for a person; "" if there is none. */
  readonly next: string;
  readonly restarts: number;
}
