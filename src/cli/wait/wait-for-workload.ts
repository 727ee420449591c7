import { ApiError, ConnectionError } from "../../kube/api/errors.ts";
import { listWatch } from "../../kube/list-watch/list-watch.ts";
import { systemClock } from "../../lib/clock.ts";
import { Waker } from "../../runtime/waker.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { type Explanation, explainWorkload } from "../cluster/explanation/explanation.ts";
import type { KnownPolicy } from "../cluster/running-wave/known-policy.ts";
import { readWorkloadSnapshot } from "../cluster/snapshot/read-one.ts";
import { withKubernetesReason } from "../cluster/states/kubernetes-reason.ts";
import { describePodCount } from "../cluster/states/workload-state.ts";
import { workloadStates } from "../cluster/states/workload-states.ts";
import type { Cluster } from "../command/cluster-command.ts";
import { CommandFailure } from "../command/command-failure.ts";
import type { NamedObject } from "../command/named-object.ts";
import type { WorkloadArgument } from "../command/workload-argument.ts";
import { sentences } from "../output/sentences.ts";

/** Minimum time between two checks of a workload, in milliseconds. */
const minCheckMs = 250;
/** Maximum time between two checks, in milliseconds: no watch reports an edit of a ConfigMap that was taken back. */
const maxCheckMs = 5_000;

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
}

/** The input of {@link waitForWorkload}. */
export interface WaitRequest {
  readonly cluster: Cluster;
  readonly policy: KnownPolicy;
  readonly target: WorkloadArgument & NamedObject;
  readonly timeout: AbortSignal;
  /** Receives a line whenever the state changes. */
  readonly report: (line: string) => void;
}

/** Resolves with the last check when the workload is done, when only a person can continue, or after the timeout. */
export async function waitForWorkload({ cluster, policy, target, timeout, report }: WaitRequest): Promise<WaitCheck> {
  const ended = new AbortController();
  const changed = new Waker();
  const watching = wakeOnChanges(cluster, target, changed, AbortSignal.any([timeout, ended.signal]));
  try {
    let reported = "";
    for (let isFirst = true; ; isFirst = false) {
      const check = await checkWorkload(cluster, policy, target, isFirst);
      const line = check.progress === "done" ? check.message : `${check.state}. ${sentences(check.message)}`;
      if (check.progress === "done") report(line);
      if (check.progress !== "open" || timeout.aborted) return check;
      if (line !== reported) report(line);
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
  cluster: Cluster,
  policy: KnownPolicy,
  target: WaitRequest["target"],
  isFirst: boolean,
): Promise<WaitCheck> {
  try {
    return checkOf(explainWorkload(await readWorkloadSnapshot(cluster, target, target.namespace, policy)));
  } catch (error) {
    if (isFirst || !mayRecover(error)) throw error;
    return { progress: "open", complete: false, state: "unknown", message: errorText(error), next: "" };
  }
}

function mayRecover(error: unknown): boolean {
  if (error instanceof CommandFailure) return false;
  return (
    error instanceof ConnectionError || (error instanceof ApiError && (error.status >= 500 || error.status === 429))
  );
}

function checkOf({ state, because, message, reason, kubernetes, hold, pods }: Explanation): WaitCheck {
  const shared = {
    state: hold === null ? state : `${state} (${hold.reason})`,
    message: withKubernetesReason(message ?? reason, kubernetes),
    // The message of a hold, and of a rollback, already gives the next step.
    next: state === "held" || state === "rolledBack" ? "" : workloadStates[state].next,
  };
  switch (state) {
    case "current":
      return {
        ...shared,
        progress: "done",
        complete: true,
        message: pods === null ? "The workload is up to date." : sentences(describePodCount(pods)),
      };
    case "failed":
    case "rolledBack":
    case "ignored":
    case "overLimit":
      return { ...shared, progress: "over", complete: true };
    case "held":
      return { ...shared, progress: hold?.reason === "halted" ? "over" : "open", complete: true };
    case "rolling":
    case "due":
    case "waiting":
    case "behind":
      return { ...shared, progress: "open", complete: true };
    case "unknown":
      return { ...shared, progress: because === "forbidden" || because === "key" ? "over" : "open", complete: false };
  }
}
