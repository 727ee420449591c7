import { sleep } from "../../lib/clock.ts";
import { reportFailure } from "../command/command.ts";
import { describeRef } from "../doctor/context/finding.ts";
import { diagnose } from "../doctor/doctor.ts";
import type { Diagnosis } from "../doctor/doctor-output.ts";
import { sentences } from "../output/sentences.ts";
import type { ClusterFeed } from "./cluster-feed.ts";
import type { ClusterHeader } from "./model.ts";

/** Time between two runs of the checks, in milliseconds. */
const everyMs = 300_000;
/** How many times as long as a run of the checks the pause after it is. */
const pausePerRun = 20;

/** Runs the checks of `wave doctor` again and again, until the signal is aborted. A run that fails leaves the last result. */
export async function followDoctor(feed: ClusterFeed): Promise<void> {
  const { call, cluster, clock, signal } = feed.options;
  const { namespace } = call.values;
  const values = { ...call.values, "all-namespaces": namespace === undefined, output: "table" as const };
  const quiet = { ...call, values, terminal: { ...call.terminal, writeError: () => {} } };
  await feed.shown;
  while (!signal.aborted) {
    const from = clock.monotonic();
    try {
      feed.showDiagnosis(shown(await diagnose(cluster, quiet)));
    } catch (error) {
      if (signal.aborted) return;
      if (reportFailure(error, cluster) === undefined) throw error;
    }
    const tookMs = clock.monotonic() - from;
    await sleep(clock, Math.max(everyMs, pausePerRun * tookMs), signal).catch(() => {});
  }
}

function shown({ checks, findings }: Diagnosis): Pick<ClusterHeader, "doctor" | "webhook"> {
  // Without permission to list Deployments, it is not known whether a Wave has a webhook.
  const about = checks.find(({ check }) => check === "webhook") ?? checks.find(({ check }) => check === "wave");
  return {
    // The page has a row for each workload.
    doctor: findings
      .filter(({ check, severity }) => check !== "workloads" && severity !== "unchecked")
      .map(
        ({ where, what, fix }) =>
          sentences(where === null ? "" : `${describeRef(where)}: ${what}`, where === null ? what : "") +
          (fix === null ? "" : ` → ${fix}`),
      ),
    webhook: about === undefined ? "absent" : webhookState(about),
  };
}

function webhookState({ check, severity, summary }: Diagnosis["checks"][number]): ClusterHeader["webhook"] {
  if (severity === "unchecked") return "unknown";
  if (check !== "webhook") return "absent";
  if (severity === "problem") return "failing";
  return summary.startsWith("off") ? "absent" : "ready";
}
