import { quoted } from "../../domain/syntax/wording.ts";
import { isForbidden } from "../../kube/api/errors.ts";
import { type CommandCall, type Cluster, clusterCommand } from "../cluster/cluster-command.ts";
import { readRunningPolicy } from "../cluster/effective-flags.ts";
import { type WorkloadSnapshots, readWorkloadSnapshots } from "../cluster/read-workload-snapshots.ts";
import { type ReadResult, tryRead, inScope } from "../cluster/read-result.ts";
import { readRunningWaves, wavesWatching } from "../cluster/running-wave.ts";
import { withCluster } from "../command/command-failure.ts";
import { exitCodeFor } from "../command/exit-codes.ts";
import { UsageError } from "../flags/usage-error.ts";
import { hasColors, paintOf } from "../output/paint.ts";
import { printable } from "../output/printable.ts";
import { isForProgram, programText } from "../output/program-text.ts";
import { runChecks } from "./checks.ts";
import type { DoctorContext } from "./doctor-context.ts";
import { doctorFlags } from "./doctor-flags.ts";
import { diagnosisOf, renderDiagnosis, uncheckedIn } from "./doctor-output.ts";
import { scanAnnotations, type AnnotationScan } from "./annotation-scan.ts";

/**
 * `wave doctor`: what keeps Wave from rolling, and what to do. The answer is no where anything is a problem; what could not be looked
 * at is no answer.
 */
export const doctor = clusterCommand({
  name: "doctor",
  flags: doctorFlags,
  help: async () => (await import("./doctor-help.ts")).doctorHelp(),
  read: (called) => {
    const [surplus] = called.positionals;
    if (surplus !== undefined) throw new UsageError(`${quoted(surplus)} is not a flag; -n and -A say where to look`);
    return async (cluster) => {
      const diagnosis = diagnosisOf(await runChecks(await patientIn(cluster, called)));
      const { output } = called.values;
      const { env, outputToTerminal, outputColumns, write, writeError } = called.terminal;
      const paint = paintOf(hasColors(env, outputToTerminal));
      write(
        isForProgram(output) ? await programText(diagnosis, output) : renderDiagnosis(diagnosis, paint, outputColumns),
      );
      const unchecked = uncheckedIn(diagnosis);
      if (unchecked !== undefined) writeError(`wave doctor: ${printable(withCluster(unchecked, cluster))}\n`);
      const hasProblem = diagnosis.findings.some(({ severity }) => severity === "problem");
      return exitCodeFor({ no: hasProblem, complete: unchecked === undefined });
    };
  },
});

async function patientIn(cluster: Cluster, called: CommandCall<typeof doctorFlags>): Promise<DoctorContext> {
  const { values } = called;
  const namespace = values["all-namespaces"] ? undefined : (values.namespace ?? cluster.namespace);
  const serverVersion = await versionOf(cluster);
  const waves = await readRunningWaves(cluster.client);
  const policy = await readRunningPolicy("doctor", cluster, called, namespace, waves);
  let workloads: Promise<ReadResult<WorkloadSnapshots>> | undefined;
  let written: Promise<AnnotationScan> | undefined;
  return {
    cluster,
    namespace,
    serverVersion,
    waves,
    serving: "unread" in waves ? [] : wavesWatching(waves, namespace),
    policy,
    now: Date.now(),
    workloads: () => {
      workloads ??= tryRead(`list deployments ${inScope(namespace)}`, () =>
        readWorkloadSnapshots(cluster, namespace, undefined, policy),
      );
      return workloads;
    },
    written: () => {
      written ??= scanAnnotations(cluster, namespace, policy);
      return written;
    },
  };
}

/** The first question: where nobody answers it there is nothing to look at. */
async function versionOf({ client }: Cluster): Promise<string | undefined> {
  try {
    const { gitVersion } = await client.request<{ readonly gitVersion?: string }>({ method: "GET", path: "/version" });
    return gitVersion;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
