import type { Deployment, Service } from "#kubernetes";
import { describeObject } from "../../../domain/config/view-of-references.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { isValidator } from "../../../domain/policy/rules.ts";
import { configKey, type Reference } from "../../../domain/references/references.ts";
import { formatCount, formatList, quoted } from "../../../domain/syntax/names.ts";
import { type KubeObject, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { tryList } from "../../cluster/requests.ts";
import type { WorkloadSnapshot } from "../../cluster/snapshot/workload-snapshot.ts";
import { type Finding, kubectlArguments, notRead, warning } from "../context/finding.ts";

/** How many objects or Services a finding names. */
const mostNamed = 3;

/** Returns findings about validators that check less than they should, or that are more than a check. Never rejects. */
export async function validatorFindings(
  snapshots: readonly WorkloadSnapshot[],
  client: ApiClient,
): Promise<readonly Finding[]> {
  const byNamespace = Map.groupBy(snapshots, ({ found }) => found.workload.namespace);
  const found = await Promise.all([...byNamespace].map(([namespace, all]) => findingsIn(namespace, all, client)));
  return found.flat();
}

async function findingsIn(
  namespace: string,
  snapshots: readonly WorkloadSnapshot[],
  client: ApiClient,
): Promise<readonly Finding[]> {
  const validators = snapshots.filter(({ found }) => isValidator(found.workload));
  if (validators.length === 0) return [];
  const readers = snapshots.filter((each) => !validators.includes(each)).map(({ found }) => found.workload);
  const services = await tryList(client, resources.services, { namespace }, (service: KubeObject & Service) => service);
  const checked = validators.flatMap(({ found }) => found.workload.references);
  return [
    ...("unread" in services ? [notRead(null, "Services that select validators were not checked", services)] : []),
    ...validators.flatMap(({ found: { object, workload } }) => {
      const selecting = "unread" in services ? [] : services.read;
      const texts = textsAbout(object as Deployment, workload, readers, checked, selecting);
      return texts.map((what) => warning(workload, what, `kubectl edit ${kubectlArguments(workload)}`));
    }),
  ];
}

/** Returns what a person changes on a validator: state, cause, next step. */
function textsAbout(
  { spec }: Deployment,
  workload: Workload,
  readers: readonly Workload[],
  checked: readonly Reference[],
  services: readonly Service[],
): readonly string[] {
  const { template, replicas = 1 } = spec ?? {};
  const { containers = [] } = template?.spec ?? {};
  const probed = containers.filter((each) => each.readinessProbe ?? each.livenessProbe ?? each.startupProbe);
  const labels = template?.metadata?.labels ?? {};
  const selecting = services.filter(({ spec }) => {
    const wanted = Object.entries(spec?.selector ?? {});
    return wanted.length > 0 && wanted.every(([name, value]) => labels[name] === value);
  });
  const unchecked = uncheckedBy(workload, readers, checked);
  const texts: string[] = [];
  if (unchecked.length > 0) {
    const objects = formatList(unchecked, mostNamed, (each) => describeObject(each, workload.namespace));
    texts.push(
      `Validator does not check ${objects}: other workloads read more of it. Read the same keys in the validator.`,
    );
  }
  if (selecting.length > 0) {
    const names = formatList(selecting, mostNamed, ({ metadata }) => quoted(metadata?.name ?? ""));
    texts.push(
      `Service ${names} sends requests to this validator. Give its Pods a label that the Service does not select.`,
    );
  }
  if (probed.length > 0) {
    const names = formatList(probed, mostNamed, ({ name }) => quoted(name));
    texts.push(
      `Container ${names} of this validator has probes. Move the check to an init container, and remove the probes.`,
    );
  }
  if (replicas > 1)
    texts.push(`Validator has ${formatCount(replicas)} replicas, and all of them check the same. Set replicas to 1.`);
  return texts;
}

/** Returns the objects with keys that other workloads read and no validator reads. Only objects that this validator reads, too. */
function uncheckedBy(
  { references }: Workload,
  readers: readonly Workload[],
  checked: readonly Reference[],
): readonly Reference[] {
  const own = new Set(references.map(configKey));
  const isChecked = (reference: Reference) =>
    checked.some(
      ({ keys, reads, ...object }) =>
        reads !== "existence" &&
        configKey(object) === configKey(reference) &&
        (keys === "all" || (reference.keys !== "all" && reference.keys.every((key) => keys.includes(key)))),
    );
  // A workload that shares no object with the validator has nothing to do with it.
  const fellows = readers.filter((reader) => reader.references.some((each) => own.has(configKey(each))));
  const missed = fellows
    .flatMap((reader) => reader.references)
    .filter((each) => each.reads !== "existence" && own.has(configKey(each)) && !isChecked(each));
  return [...new Map(missed.map((each) => [configKey(each), each])).values()];
}
