import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import type { WorkloadRow } from "../../domain/model/workload.ts";
import { formatList, quoted } from "../../domain/syntax/wording.ts";
import { type KnownPolicy, policyOfFlags } from "../cluster/running-wave/known-policy.ts";
import type { CommandCall } from "../command/flag-command.ts";
import type { inheritedFlags } from "../flags/inherited-flags.ts";
import { wantedKinds } from "../flags/kind-flags.ts";
import type { FlagValues } from "../flags/parse-flags.ts";
import { clientOf, removedConfigs, splitBase } from "./base-objects.ts";
import { type ClusterStates, readClusterStates } from "./cluster-states.ts";
import { desiredObjects, type NamedManifest } from "./desired-objects.ts";
import { describeManifest, type Manifest } from "./manifests/manifest.ts";
import { overlayManifests } from "./overlay.ts";
import { type DiffRequest, renderDifferences } from "./render-differences.ts";

/** Manifests, and the manifests of a base such as the target branch of a pull request. */
export interface BaseRequest extends DiffRequest {
  readonly manifests: readonly Manifest[];
  readonly base: readonly Manifest[];
  /** The namespace of manifests without a namespace; undefined: "default". */
  readonly namespace: string | undefined;
}

/**
 * Compares manifests with a base, without a cluster. An object that only the base has is removed. Objects of neither are assumed to stay
 * as they are, and running Pods to be current. Resolves with the exit code. Throws a UsageError for an invalid manifest.
 */
export async function diffBase(
  { values, terminal }: CommandCall<typeof inheritedFlags>,
  { manifests, base, namespace, ...request }: BaseRequest,
): Promise<number> {
  const kinds = [...builtInKinds, ...kindsIn([...manifests, ...base], values)];
  const flags = await policyOfFlags(values);
  const policy: KnownPolicy = { ...flags, keys: { state: "not requested", why: "no cluster" }, kinds };
  const place = { namespace: namespace ?? "default", given: namespace !== undefined };
  const wanted = desiredObjects(manifests, kinds, place);
  const { kept, removed } = splitBase(desiredObjects(base, kinds, place), wanted);
  const client = clientOf({ ...kept, configs: [...kept.configs, ...removed.configs] });
  const now = Date.now();
  const applied = await overlayManifests(client, wanted, policy, now);
  const overlay = { ...applied, configs: [...applied.configs, ...removedConfigs(removed, policy)] };
  const states = await readClusterStates(client, policy, overlay, "base");
  const notes = [...wanted.notes, ...removedNotes(removed.workloads), ...assumedNotes(states)];
  return renderDifferences(terminal, { ...request, states, notes, now });
}

/** Returns the rows of the requested kinds that manifests have, by the usual plural of their kind. */
function kindsIn(manifests: readonly Manifest[], values: FlagValues<typeof inheritedFlags>): readonly WorkloadRow[] {
  return (wantedKinds(values) ?? []).flatMap((wanted) => {
    const isWanted = ({ apiVersion, kind }: Manifest) =>
      apiVersion.startsWith(`${wanted.group}/`) && `${kind.toLowerCase()}s` === wanted.plural;
    const found = manifests.find(isWanted);
    return found === undefined ? [] : [requestedKindRow(wanted, found)];
  });
}

function removedNotes(workloads: readonly { readonly manifest: NamedManifest }[]): readonly string[] {
  return workloads.map(({ manifest }) => `The manifests no longer have ${describeManifest(manifest)}.`);
}

/** Returns a line about the objects that affected workloads read and neither side has. */
function assumedNotes({ pairs, affected, after }: ClusterStates): readonly string[] {
  const names = new Set<string>();
  for (const { after: found } of pairs) {
    const { kind, namespace, name, references } = found.workload;
    if (!affected.has(`${kind}/${namespace}/${name}`)) continue;
    for (const reference of references)
      if (after.read.get(`${reference.kind}/${reference.namespace}/${reference.name}`)?.state === "unreadable")
        names.add(`${reference.kind} ${quoted(reference.name)}`);
  }
  if (names.size === 0) return [];
  return [
    `The comparison assumes that objects outside of the manifests do not change: ${formatList([...names].sort(), 5, String)}.`,
  ];
}
