// `wave doctor`. checks/ holds one file for each check, context/ what they share; this file and its neighbours render the results.
import { isForbidden } from "../../kube/api/api-failure.ts";
import { readRunningPolicy } from "../cluster/running-wave/known-policy.ts";
import { readRunningWaves, wavesWatching } from "../cluster/running-wave/running-wave.ts";
import { type Cluster, clusterCommand } from "../command/cluster-command.ts";
import { appendCluster, argumentErrorTexts, exitCodeFor, exitCodes, warningLine } from "../command/command.ts";
import type { CommandCall } from "../command/help.ts";
import { allNamespacesFlag, connectionFlags, namespaceFlag, outputFlag } from "../flags/connection-flags.ts";
import { inheritedFlags } from "../flags/run-flags.ts";
import { answerText, paintFor } from "../output/table.ts";
import { checks, runChecks } from "./checks/checks.ts";
import { scanAnnotations } from "./context/annotation-scan.ts";
import type { DoctorContext } from "./context/doctor-context.ts";
import { type Diagnosis, diagnosisOf, renderDiagnosis, uncheckedIn } from "./doctor-output.ts";

const flags = {
  namespace: namespaceFlag,
  "all-namespaces": allNamespacesFlag,
  output: outputFlag(["table"], "Output format: a table with findings, or all findings for a program."),

  ...connectionFlags,
  ...inheritedFlags,
};

/** `wave doctor`: finds what keeps Wave from rolling. Ends with "no" for a problem, "incomplete" if a check could not be completed. */
export const doctor = clusterCommand({
  name: "doctor",
  flags,
  help: {
    usage: "wave doctor [flags]",
    description: "Check Wave and its workloads, and print the next step for each problem.",
    examples: [
      ["wave doctor -n shop", "Wave and the workloads of namespace shop"],
      ["wave doctor -A", "the workloads of all namespaces"],
      ["wave doctor -A -o json", "all findings, as JSON"],
    ],
    usualFlags: ["namespace", "all-namespaces", "output"],
    details: [
      "The checks use your permissions and write nothing. To check the webhook, a Deployment is created as a dry run, which stores nothing.",
      "If you lack the permission for a check, the check is unchecked. All other checks still run.",
    ],
    words: {
      heading: "Checks",
      meanings: Object.fromEntries(Object.entries(checks).map(([name, { means }]) => [name, means])),
    },
    exits: {
      [exitCodes.done]: "All checks are complete and found no problem.",
      [exitCodes.no]: "There is a problem.",
    },
  },
  surplus: argumentErrorTexts.surplusNamespace,
  read: (called) => {
    return async (cluster) => {
      const diagnosis = await diagnose(cluster, called);
      const { output } = called.values;
      const { outputColumns, write, writeError } = called.terminal;
      const forPeople = () => renderDiagnosis(diagnosis, paintFor(called.terminal), outputColumns);
      write(await answerText(output, diagnosis, forPeople));
      const unchecked = uncheckedIn(diagnosis);
      if (unchecked !== undefined) writeError(warningLine(appendCluster(unchecked, cluster)));
      const hasProblem = diagnosis.findings.some(({ severity }) => severity === "problem");
      return exitCodeFor({ no: hasProblem, complete: unchecked === undefined });
    };
  },
});

/** Runs all checks. `called` has the flags of `wave doctor`. Throws if the API server does not answer. */
export async function diagnose(cluster: Cluster, called: CommandCall<DoctorFlags>): Promise<Diagnosis> {
  return diagnosisOf(await runChecks(await doctorContextOf(cluster, called)));
}

type DoctorFlags = Pick<typeof flags, "namespace" | "all-namespaces"> & typeof inheritedFlags;

async function doctorContextOf(cluster: Cluster, called: CommandCall<DoctorFlags>): Promise<DoctorContext> {
  const { values } = called;
  const namespace = values["all-namespaces"] ? undefined : (values.namespace ?? cluster.namespace);
  const serverVersion = await versionOf(cluster);
  const waves = await readRunningWaves(cluster.client);
  const policy = await readRunningPolicy(cluster, called, namespace, waves);
  return {
    cluster,
    namespace,
    serverVersion,
    waves,
    watching: "unread" in waves ? [] : wavesWatching(waves, namespace),
    policy,
    now: Date.now(),
    annotationScan: scanAnnotations(cluster, namespace, policy),
  };
}

/** Reads the version of the API server; undefined if forbidden. Throws if the API server does not answer: nothing can be checked then. */
async function versionOf({ client }: Cluster): Promise<string | undefined> {
  try {
    const { gitVersion } = await client.request<{ readonly gitVersion?: string }>({ method: "GET", path: "/version" });
    return gitVersion;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
