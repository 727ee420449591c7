import { annotationPrefix } from "../../../domain/references/annotations.ts";
import { formatCount, formatList, isDnsSubdomain, waveArguments } from "../../../domain/syntax/names.ts";
import { type Explanation, explainWorkload } from "../../cluster/explanation/explanation.ts";
import { inScope, tryRead } from "../../cluster/requests.ts";
import { readWorkloadSnapshots } from "../../cluster/snapshot/read-one.ts";
import { withKubernetesReason } from "../../cluster/states/state-rows.ts";
import { docsAddress } from "../../command/help.ts";
import { age, sentences } from "../../output/sentences.ts";
import type { DoctorContext } from "../context/doctor-context.ts";
import {
  type CheckResult,
  describeRef,
  type Finding,
  kubectlArguments,
  notRead,
  type ObjectRef,
  problem,
  unchecked,
  warning,
} from "../context/finding.ts";
import { haltFindings, heldFindings } from "./held-workloads.ts";
import { readSecretMakers, recreatedObjectFindings, type SecretMaker } from "./recreated-objects.ts";
import { validatorFindings } from "./validators.ts";

const minute = 60_000;

/** A rollout that is due starts within seconds; many at once take longer, because of `--update-rate`. */
const dueForMs = 5 * minute;

/** Checks that the workloads that opted in run with their current configuration, or will do so without help. */
export async function checkWorkloads(doctorContext: DoctorContext): Promise<CheckResult> {
  const { cluster, namespace, policy } = doctorContext;
  const all = await tryRead(`list deployments ${inScope(namespace)}`, () =>
    readWorkloadSnapshots(cluster, namespace, undefined, policy),
  );
  if ("unread" in all) return { found: [notRead(null, "Workloads were not checked", all)] };
  const { snapshots, failures, gaps } = all.read;
  const explanations = snapshots.map(explainWorkload);
  const known = explanations.filter(({ state }) => state !== "unknown");
  const held = known.filter(({ state }) => state === "held");
  const others = known.filter(({ state }) => state !== "held");
  const missingSecrets = known.flatMap(({ missing: [first] }) => (first?.kind === "Secret" ? [first.namespace] : []));
  const makerOf = await readSecretMakers(cluster.client, missingSecrets);
  // The output shows only the first findings, so the cause comes before the workloads that it holds.
  const found = [
    ...[...failures, ...gaps].map((line) => unchecked(null, sentences(line))),
    ...others.flatMap((each) => findingsOn(each, doctorContext, makerOf)),
    ...haltFindings(held),
    ...held.flatMap((each) => findingsOn(each, doctorContext, makerOf)),
    ...armedHoldFindings(known),
    ...recreatedObjectFindings(snapshots),
    ...(await validatorFindings(snapshots, cluster.client)),
    ...unknownFindings(explanations.filter(({ state }) => state === "unknown")),
  ];
  return { found, fine: `${formatCount(snapshots.length)} opted in; none waiting, failed, or held for too long` };
}

/** How many workloads a finding names. */
const mostNamed = 3;

/** Returns one finding about holds of a person that delay nothing now, but will hold the next change. */
function armedHoldFindings(known: readonly Explanation[]): readonly Finding[] {
  const armed = known.filter(({ state, because }) => state === "current" && because === "hold");
  const [first] = armed;
  if (first === undefined) return [];
  const names = formatList(armed, mostNamed, ({ workload }) => describeRef(workload));
  const what = `A person holds the next rollout of ${formatCount(armed.length)} up-to-date ${armed.length === 1 ? "workload" : "workloads"}: ${names}.`;
  return [warning(null, what, `wave explain ${waveArguments(first.workload)}`)];
}

/** Returns one finding for each reason for which the state of workloads is unknown. */
function unknownFindings(unknown: readonly Explanation[]): readonly Finding[] {
  const groups = Map.groupBy(unknown, ({ unread, reason }) => (unread.length > 0 ? objectsUnread(unread) : reason));
  return [...groups].map(([reason, { length }]) => {
    const workloads = length === 1 ? "1 workload was" : `${formatCount(length)} workloads were`;
    return unchecked(null, sentences(`${workloads} not checked`, reason));
  });
}

/** Returns why objects could not be read. One reason serves for many workloads, so it names no object. */
function objectsUnread(unread: Explanation["unread"]): string {
  const isForbidden = unread.every(({ error }) => error.includes("403"));
  return isForbidden
    ? "You do not have permission to read objects on which they depend"
    : "Objects on which they depend could not be read";
}

function findingsOn(
  explanation: Explanation,
  { now, policy }: DoctorContext,
  makerOf: SecretMaker,
): readonly Finding[] {
  const { state, workload, message, reason, kubernetes, since } = explanation;
  const ref: ObjectRef = workload;
  const what = withKubernetesReason(message ?? reason, kubernetes);
  const describe = `kubectl describe ${kubectlArguments(ref)}`;
  const events = `kubectl events -n ${ref.namespace} --for ${ref.kind.toLowerCase()}/${ref.name}`;
  const forMs = now - Date.parse(since ?? "");
  switch (state) {
    case "waiting":
      return [problem(ref, what, missingObjectFix(explanation, makerOf))];
    case "failed":
      return [problem(ref, what, describe)];
    case "overLimit":
      return [problem(ref, what, `Reference fewer objects or keys: ${docsAddress("kinds", "limits")}`)];
    case "unproven":
    case "behind":
      return [warning(ref, what, `wave explain ${waveArguments(ref)}`)];
    case "held":
      return heldFindings(explanation, forMs);
    case "due":
      // The check of the installation reports a Wave that does not run, once.
      if (!(forMs > dueForMs) || policy.presence === "notReady") return [];
      return [problem(ref, `Due for ${age(forMs)}, but Wave does not roll the workload.`, events)];
    case "stuck":
      return [warning(ref, what, describe)];
    case "rolling":
      return kubernetes === null ? [] : [warning(ref, what, describe)];
    case "rolledBack":
      return [warning(ref, what, `wave history ${waveArguments(ref)}`)];
    case "current":
    case "ignored":
    case "unknown":
      return [];
  }
}

/** Returns the command that creates, shares or explains the first missing object of a workload; null if nothing is missing. */
function missingObjectFix({ missing, references, workload }: Explanation, makerOf: SecretMaker): string | null {
  const [first] = missing;
  if (first === undefined) return null;
  const { kind, namespace, name } = first;
  // A pod spec may contain any characters as a name, and the command is copied into a shell.
  if (!isDnsSubdomain(name) || !isDnsSubdomain(namespace))
    return `kubectl edit ${kubectlArguments(workload)}  # no ${kind} can have this name`;
  const elsewhere = namespace !== workload.namespace;
  const refused = references.some(
    (each) => each.state === "refused" && each.kind === kind && each.namespace === namespace && each.name === name,
  );
  if (elsewhere && refused)
    return `kubectl annotate ${kubectlArguments(first)} ${annotationPrefix}shared-with=${workload.namespace}  # once it exists`;
  const maker = kind === "Secret" ? makerOf(namespace, name) : undefined;
  if (maker === "unknown")
    return `kubectl get externalsecrets,secretproviderclasses -n ${namespace}  # whether one of them makes the Secret`;
  if (maker !== undefined)
    return `kubectl describe ${maker.resource} ${maker.name} -n ${namespace}  # it makes the Secret`;
  if (first.key !== undefined) return `kubectl edit ${kubectlArguments(first)}  # add the key`;
  const what = kind === "Secret" ? "secret generic" : "configmap";
  return `kubectl create ${what} ${name} -n ${namespace} --from-file=KEY=FILE`;
}
