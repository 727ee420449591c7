// `wave release --scheduling-holds`: undoes what Wave wrote into workloads that keeps Pods pending or blocks deletions, also when no Wave runs.
import { oldFinalizer } from "../../domain/model/scheduling-hold.ts";
import { formatCount, formatList } from "../../domain/syntax/names.ts";
import { resources } from "../../kube/api/resources.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import type { StoredConfiguration } from "../../webhook/certificates/configuration.ts";
import { tryList } from "../cluster/requests.ts";
import { describeWave, readRunningPolicy } from "../cluster/running-wave/known-policy.ts";
import { type RunningWave, readRunningWaves, wavesWatching } from "../cluster/running-wave/running-wave.ts";
import { type Cluster, clusterCommand } from "../command/cluster-command.ts";
import {
  appendCluster,
  argumentErrorTexts,
  exitCodeFor,
  exitCodes,
  outputLine,
  warningLine,
} from "../command/command.ts";
import type { CommandCall } from "../command/help.ts";
import { objectName } from "../command/workload-argument.ts";
import { allNamespacesFlag, connectionFlags, namespaceFlag } from "../flags/connection-flags.ts";
import { bool, UsageError } from "../flags/flag-types.ts";
import { inheritedFlags, ownershipOf } from "../flags/run-flags.ts";
import { liftHolds } from "./lift-holds.ts";
import type { ReleaseContext, StepResult } from "./release-step.ts";
import { removeFinalizers } from "./remove-finalizers.ts";
import { replacePendingPods } from "./replace-pending-pods.ts";

/** The flags of `wave release` without an object. */
export const schedulingHoldFlags = {
  "scheduling-holds": bool({
    group: namespaceFlag.group,
    default: false,
    help: `Lift every scheduling hold, and remove every finalizer ${oldFinalizer} with its owner references. Use it after you removed Wave. Needs -n or -A, and no object.`,
  }),
  "all-namespaces": allNamespacesFlag,
};

type ReleaseCall = CommandCall<
  typeof schedulingHoldFlags & typeof inheritedFlags & { namespace: typeof namespaceFlag }
>;

/** Lifts scheduling holds, replaces the Pods that Kubernetes does not replace, and removes finalizers. Each step can be repeated. */
async function releaseSchedulingHolds(cluster: Cluster, call: ReleaseCall): Promise<number> {
  const { values, terminal } = call;
  const namespaces = namespacesOf(call, cluster.namespace);
  const waves = await readRunningWaves(cluster.client);
  const policy = await readRunningPolicy(cluster, call, namespaces[0], waves);
  const warn = (line: string) => terminal.writeError(warningLine(appendCluster(line, cluster)));
  for (const line of await registeredWebhooks(cluster)) warn(line);
  const running = "unread" in waves ? [] : wavesWatching(waves, values["all-namespaces"] ? undefined : namespaces[0]);
  const keeper = running.find((wave) => ownershipOf(wave.values) === "keep");
  let complete = true;
  const report = (done: string, { touched, failures }: StepResult) => {
    for (const each of touched)
      terminal.write(outputLine(`${objectName(each)} in namespace ${each.namespace}: ${done}`));
    for (const line of failures) warn(line);
    if (failures.length > 0) complete = false;
    return touched.length;
  };
  let lifted = 0;
  let freed = 0;
  for (const namespace of namespaces) {
    const context: ReleaseContext = { client: cluster.client, policy, namespace };
    lifted += report("scheduling hold lifted", await liftHolds(context));
    const left = await replacePendingPods(context).catch((error: unknown) => errorText(error));
    if (typeof left === "string") report("", { touched: [], failures: [`Pods were not checked: ${left}`] });
    else if (left > 0) warn(leftLine(left, namespace));
    if (keeper === undefined) freed += report("finalizer removed", await removeFinalizers(context));
  }
  if (keeper !== undefined) warn(finalizersStay(keeper));
  if (lifted + freed === 0 && complete)
    terminal.write("Nothing to release: no scheduling hold and no finalizer of Wave exists.\n");
  return exitCodeFor({ complete });
}

/** Returns the namespaces of the call, at least one; undefined: all namespaces. */
function namespacesOf({ values }: ReleaseCall, namespace: string): readonly (string | undefined)[] {
  if (!values["all-namespaces"]) return [values.namespace ?? namespace];
  return values.namespaces ?? [undefined];
}

/** Returns a warning for each registered webhook of Wave: it adds a lifted hold again at the next edit of the workload. */
async function registeredWebhooks({ client }: Cluster): Promise<readonly string[]> {
  const ofWave = ({ metadata, webhooks }: StoredConfiguration) =>
    webhooks?.some(({ name }) => name.endsWith("workloads.wave.pusher.com")) ? metadata.name : undefined;
  const listed = await tryList(client, resources.mutatingWebhookConfigurations, {}, ofWave);
  if ("unread" in listed || listed.read.length === 0) return [];
  const names = formatList(listed.read, 3, String);
  return [
    `Wave's webhook is registered (${names}) and can hold Pods again. To remove Wave, delete it first: kubectl delete mutatingwebhookconfiguration ${listed.read[0]}`,
  ];
}

function leftLine(count: number, namespace: string | undefined): string {
  const scope = namespace === undefined ? "-A" : `-n ${namespace}`;
  const pods = count === 1 ? "1 Pod is" : `${formatCount(count)} Pods are`;
  return `${pods} still pending. Kubernetes replaces the Pods of Deployments by itself. To see the Pods: kubectl get pods ${scope} --field-selector spec.schedulerName=wave.pusher.com/invalid`;
}

function finalizersStay(wave: RunningWave): string {
  return `Finalizers stay, because ${describeWave(wave)} runs with --owner-references and adds them again. Scale it to 0 first.`;
}

/** The example of this command and its purpose. */
export const releaseHoldsExample = [
  "wave release --scheduling-holds -A",
  "all pending Pods, after you removed Wave",
] as const;

const flags = { ...schedulingHoldFlags, namespace: namespaceFlag, ...connectionFlags, ...inheritedFlags };

/** Lifts scheduling holds without an object. The image of Wave has this command too, for the hook before `helm uninstall`. */
export const releaseHolds = clusterCommand({
  name: "release",
  flags,
  help: {
    usage: "wave release --scheduling-holds [flags]",
    description: "Lift scheduling holds, and remove finalizers of Wave. The command works without a running Wave.",
    examples: [releaseHoldsExample],
    usualFlags: ["namespace", ...Object.keys(schedulingHoldFlags)],
    details: [
      "You need permission to list and patch workloads, to list and delete Pods, and, for finalizers, to list and patch ConfigMaps and Secrets.",
    ],
    exits: { [exitCodes.done]: "Done, or there was nothing to do." },
  },
  surplus: argumentErrorTexts.surplusNamespace,
  read: (call) => {
    if (call.given.get("namespace") === undefined && !call.values["all-namespaces"])
      throw new UsageError(argumentErrorTexts.noScope);
    return (cluster) => releaseSchedulingHolds(cluster, call);
  },
});
