import { formatDuration } from "../../domain/syntax/duration.ts";
import { ApiError, ConnectionError } from "../../kube/api/errors.ts";
import { listWatch } from "../../kube/list-watch/list-watch.ts";
import { longestTimerMs, systemClock } from "../../lib/clock.ts";
import { Waker } from "../../runtime/waker.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { called, type Target } from "../annotate/annotate.ts";
import { asFound } from "../cluster/available-kinds.ts";
import { type Cluster, clusterCommand } from "../cluster/cluster-command.ts";
import { readRunningPolicy } from "../cluster/effective-flags.ts";
import { type Explanation, explainWorkload } from "../cluster/explanation.ts";
import type { KnownPolicy } from "../cluster/inherited-flags.ts";
import { withReason } from "../cluster/kubernetes-reason.ts";
import { readOne } from "../cluster/read-one.ts";
import { podsInWords } from "../cluster/workload-state.ts";
import { CommandFailure } from "../command/command-failure.ts";
import { answered } from "../command/exit-codes.ts";
import { namedWorkloadRows, parseArguments, type WorkloadArgument } from "../command/workload-argument.ts";
import { printable } from "../output/printable.ts";
import { waitFlags } from "./wait-flags.ts";

/** Between two looks at a workload lies at least so much time, however often it changes. */
const leastPauseMs = 250;
/** A look all the same, for what no watch tells: an edit of a ConfigMap that was taken back. */
const mostPauseMs = 5_000;

/**
 * `wave wait KIND/NAME…`: resolves with 0 when every Pod of each runs with the current configuration, else after one line for each:
 * with 1 where that has not come, or cannot come without a person, and with 3 where nobody can say.
 */
export const wait = clusterCommand({
  name: "wait",
  flags: waitFlags,
  kinds: namedWorkloadRows,
  help: async () => (await import("./wait-help.ts")).waitHelp(),
  read: (called) => {
    const { positionals, values, terminal } = called;
    const workloads = parseArguments(positionals, namedWorkloadRows);
    return async (cluster) => {
      const namespace = values.namespace ?? cluster.namespace;
      const policy = await readRunningPolicy("wait", cluster, called, namespace);
      const timeout = new AbortController();
      const cancel = systemClock.timer(Math.min(values.timeout, longestTimerMs), () => timeout.abort());
      const say = (line: string) => terminal.write(`${printable(line)}\n`);
      try {
        const ends = await Promise.all(
          workloads.map((each) =>
            waitFor(cluster, policy, { ...asFound(each, policy), namespace }, timeout.signal, say),
          ),
        );
        for (const end of ends) {
          if (end.is === "done") continue;
          const after =
            end.is === "over" || values.timeout === 0 ? "" : `after ${formatDuration(values.timeout)} still `;
          terminal.writeError(`wave wait: ${printable(`${end.name}: ${after}${end.why}`)}\n`);
        }
        return answered({
          no: ends.some(({ is, lookedAt }) => is !== "done" && lookedAt),
          lookedAtAll: ends.every(({ lookedAt }) => lookedAt),
        });
      } finally {
        cancel();
        // Where one could not be looked at, nobody waits for the others.
        timeout.abort();
      }
    };
  },
});

/** How waiting for one workload ended. */
interface End {
  readonly name: string;
  /** "open": it may come; "over": more time would not help. */
  readonly is: "done" | "open" | "over";
  /** Whether all could be read that this hangs on. */
  readonly lookedAt: boolean;
  /** What holds it, in one line. */
  readonly why: string;
}

async function waitFor(
  cluster: Cluster,
  policy: KnownPolicy,
  target: WorkloadArgument & Target,
  timeout: AbortSignal,
  say: (line: string) => void,
): Promise<End> {
  const name = called(target);
  const ended = new AbortController();
  const changed = new Waker();
  const watching = wakeAtChanges(cluster, target, changed, AbortSignal.any([timeout, ended.signal]));
  try {
    let said = "";
    for (let first = true; ; first = false) {
      const look = await lookAt(cluster, policy, target, first);
      if (look.is !== "open") {
        if (look.is === "done") say(`${name}: ${look.why}`);
        return { name, ...look };
      }
      if (timeout.aborted) return { name, ...look };
      if (look.why !== said) say(`${name}: ${look.why}`);
      said = look.why;
      await new Waker().wait(systemClock, leastPauseMs, timeout);
      await changed.wait(systemClock, mostPauseMs - leastPauseMs, timeout);
    }
  } finally {
    ended.abort();
    await watching;
  }
}

/** Its status tells how far Kubernetes is, and its annotations what people and Wave write: one watch is enough. */
async function wakeAtChanges(
  { client }: Cluster,
  { resource, name, namespace }: Target,
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

type Look = Omit<End, "name">;

/** Where a workload stands now. What fails at the first look fails for good; later the API server may be away for a while. */
async function lookAt(
  cluster: Cluster,
  policy: KnownPolicy,
  target: WorkloadArgument & Target,
  first: boolean,
): Promise<Look> {
  try {
    return judged(explainWorkload(await readOne(cluster, target, target.namespace, policy)));
  } catch (error) {
    if (first || !mayPass(error)) throw error;
    return { is: "open", lookedAt: false, why: errorText(error) };
  }
}

function mayPass(error: unknown): boolean {
  if (error instanceof CommandFailure) return false;
  return (
    error instanceof ConnectionError || (error instanceof ApiError && (error.status >= 500 || error.status === 429))
  );
}

function judged({ state, because, message, reason, kubernetes, hold, pods }: Explanation): Look {
  const told = `${state}${hold === null ? "" : ` (${hold.reason})`}: ${withReason(message ?? reason, kubernetes)}`;
  switch (state) {
    case "current":
      return { is: "done", lookedAt: true, why: pods === null ? "current" : podsInWords(pods) };
    case "failed":
    case "ignored":
    case "tooLarge":
      return { is: "over", lookedAt: true, why: told };
    case "held":
      return { is: hold?.reason === "halted" ? "over" : "open", lookedAt: true, why: told };
    case "rolling":
    case "due":
    case "waiting":
    case "behind":
      return { is: "open", lookedAt: true, why: told };
    case "unknown":
      return { is: because === "forbidden" || because === "key" ? "over" : "open", lookedAt: false, why: told };
  }
}
