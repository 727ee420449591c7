import type { Pod } from "#kubernetes";
import { configMapsOf } from "../../../domain/pinning/pod-pins.ts";
import { pinnedAnnotation, pinnedCopyLabel } from "../../../domain/references/annotations.ts";
import { formatCount } from "../../../domain/syntax/names.ts";
import { type KubeObject, metadataOnlyList, type Resource, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { podWebhookName, type StoredConfiguration } from "../../../webhook/certificates/configuration.ts";
import { inScope, listAll, mapBounded, type ReadResult, tryList, tryRead } from "../../cluster/requests.ts";
import type { RunningWave } from "../../cluster/running-wave/running-wave.ts";
import { docsAddress } from "../../command/help.ts";
import { type DoctorContext, deploymentRef, readObject, reinstall } from "../context/doctor-context.ts";
import { type CheckResult, type Finding, notRead, warning } from "../context/finding.ts";

/** Checks that new Pods are pointed at their pinned copies, that the copies are protected, and that none remain if nothing is pinned. */
export async function checkPinning(doctorContext: DoctorContext): Promise<CheckResult> {
  const { cluster, namespace, watching } = doctorContext;
  const pinning = watching.filter(({ values }) => values["pin-config"]);
  const copies = await readPinnedCopies(cluster.client, namespace);
  const unread = "unread" in copies ? [notRead(null, "Pinned copies were not counted", copies)] : [];
  const read = "unread" in copies ? undefined : copies.read;
  const protecting = await readProtectingPolicies(cluster.client);
  if (pinning.length === 0)
    return { found: [...unread, ...leftCopies(read, doctorContext, protecting)], fine: "off, no copies" };
  const pointing = await readPointingPolicies(cluster.client);
  const found = await Promise.all(
    pinning.map(async (wave) => [
      ...(await pointingFindings(doctorContext, wave, pointing)),
      ...protectionFindings(wave, protecting),
    ]),
  );
  const stored = read === undefined ? "" : `, ${countOf(read)} stored`;
  return { found: [...unread, ...found.flat()], fine: `new Pods are pointed at copies${stored}` };
}

function countOf({ count, namespaces }: PinnedCopies): string {
  const copies = count === 1 ? "1 copy" : `${formatCount(count)} copies`;
  return `${copies} in ${namespaces === 1 ? "1 namespace" : `${formatCount(namespaces)} namespaces`}`;
}

/** Finds copies that remain although no Wave pins. Pods that reference them still need them. */
function leftCopies(
  copies: PinnedCopies | undefined,
  { namespace, watching, waves }: DoctorContext,
  protecting: ReadPolicies,
): readonly Finding[] {
  if (copies === undefined || copies.count === 0) return [];
  const isHere = (namespaces: readonly string[] | undefined) =>
    namespace === undefined || namespaces === undefined || namespaces.includes(namespace);
  // A Wave that is scaled to zero may start again, and needs its copies and policies.
  if (!("unread" in waves) && waves.some(({ values }) => values["pin-config"] && isHere(values.namespaces))) return [];
  const [wave] = watching;
  const why = wave === undefined ? "No Wave runs" : "Wave runs without --pin-config";
  const where = wave === undefined ? null : deploymentRef(wave);
  const left = `${why}, but ${countOf(copies)} of pinned configuration remain${copies.count === 1 ? "s" : ""}.`;
  if (copies.readers > 0) {
    const pods = copies.readers === 1 ? "1 Pod still reads" : `${formatCount(copies.readers)} Pods still read`;
    const step = `Restart the workloads of these Pods, then delete the copies: ${docsAddress("pinning", "uninstall")}`;
    return [warning(where, `${left} ${pods} copies, so do not delete them yet.`, step)];
  }
  const bindings =
    "unread" in protecting ? [] : protecting.read.flatMap((each) => (isHere(each.namespaces) ? each.bindings : []));
  if (bindings.length > 0) {
    const denied =
      "No Pod reads them. A policy denies their deletion. Delete its binding first, then run wave doctor again.";
    const unbind = `kubectl delete --ignore-not-found validatingadmissionpolicybinding ${bindings.join(" ")}`;
    return [warning(where, `${left} ${denied}`, unbind)];
  }
  const scope = namespace === undefined ? "--all-namespaces" : `-n ${namespace}`;
  const remove = `kubectl delete configmaps ${scope} --selector ${pinnedCopyLabel}=true`;
  return [warning(where, `${left} No Pod reads them.`, remove)];
}

/** Finds a Wave whose new Pods read live configuration: neither a policy nor, on older versions of Kubernetes, a webhook changes them. */
async function pointingFindings(
  doctorContext: DoctorContext,
  wave: RunningWave,
  policies: ReadPolicies,
): Promise<readonly Finding[]> {
  if ("unread" in policies) return [notRead(null, "The policy for new Pods was not checked", policies)];
  const state = stateOf(policies.read, wave);
  if (state === "bound") return [];
  if (state === "unbound") return [liveConfiguration(wave, "The MutatingAdmissionPolicy for new Pods has no binding.")];
  // With a URL, the configuration has another name, and check webhook reports that nothing was checked.
  if (wave.values["enable-webhooks"] && wave.values["webhook-url"] !== undefined) return [];
  const name = wave.values["webhook-service-name"];
  const where = { kind: "MutatingWebhookConfiguration", namespace: null, name };
  const stored = await readObject<StoredConfiguration>(doctorContext, resources.mutatingWebhookConfigurations, where);
  if ("unread" in stored) return [notRead(where, "The webhook for new Pods was not checked", stored)];
  if (stored.read?.webhooks?.some((webhook) => webhook.name === podWebhookName)) return [];
  return [liveConfiguration(wave, "Neither a MutatingAdmissionPolicy nor a webhook points new Pods at their copies.")];
}

function liveConfiguration(wave: RunningWave, cause: string): Finding {
  return warning(deploymentRef(wave), `${cause} New Pods read live configuration.`, reinstall(wave));
}

function protectionFindings(wave: RunningWave, policies: ReadPolicies): readonly Finding[] {
  if ("unread" in policies) return [notRead(null, "The policy that protects copies was not checked", policies)];
  const state = stateOf(policies.read, wave);
  if (state === "bound") return [];
  const cause =
    state === "unbound"
      ? "The ValidatingAdmissionPolicy that protects pinned copies has no binding."
      : "No ValidatingAdmissionPolicy protects pinned copies.";
  const what = `${cause} If someone deletes a copy that Pods use, new Pods cannot start.`;
  return [warning(deploymentRef(wave), what, reinstall(wave))];
}

/** Returns the state of the policy for all namespaces that a Wave watches. */
function stateOf(policies: readonly PinningPolicy[], { values }: RunningWave): "bound" | "unbound" | "missing" {
  const covers = ({ namespaces: selected }: PinningPolicy) =>
    selected === undefined || (values.namespaces?.every((name) => selected.includes(name)) ?? false);
  const own = policies.filter(covers);
  if (own.some(({ bindings }) => bindings.length > 0)) return "bound";
  return own.length > 0 ? "unbound" : "missing";
}

interface PinnedCopies {
  readonly count: number;
  readonly namespaces: number;
  /** The number of Pods whose spec references a copy. */
  readonly readers: number;
}

/** Counts the pinned copies and the Pods that read them. Reads only the metadata of the copies. */
async function readPinnedCopies(client: ApiClient, namespace: string | undefined): Promise<ReadResult<PinnedCopies>> {
  const scope = { namespace, labelSelector: `${pinnedCopyLabel}=true`, accept: metadataOnlyList };
  const copies = await tryList(client, resources.configMaps, scope, ({ metadata }) => metadata);
  if ("unread" in copies) return copies;
  const inNamespace = Map.groupBy(copies.read, (copy) => copy.namespace ?? "");
  const readers = await tryRead(`list pods ${inScope(namespace)}`, () =>
    mapBounded([...inNamespace], async ([each, stored]) => {
      const names = new Set(stored.map(({ name }) => name));
      const isReader = ({ spec }: KubeObject & Pod) => (configMapsOf(spec).isDisjointFrom(names) ? undefined : true);
      return (await listAll(client, resources.pods, { namespace: each }, isReader)).length;
    }),
  );
  if ("unread" in readers) return readers;
  const total = readers.read.reduce((sum, each) => sum + each, 0);
  return { read: { count: copies.read.length, namespaces: inNamespace.size, readers: total } };
}

/** A policy of the API server for pinned configuration. */
interface PinningPolicy {
  /** The namespaces to which it applies; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  /** The bindings that put it into effect. */
  readonly bindings: readonly string[];
}

/** The policies for one purpose. Each Wave that watches some namespaces has its own. */
type ReadPolicies = ReadResult<readonly PinningPolicy[]>;

interface AdmissionPolicy extends KubeObject {
  readonly spec?: {
    readonly matchConstraints?: {
      readonly namespaceSelector?: { readonly matchExpressions?: readonly { readonly values?: readonly string[] }[] };
      readonly objectSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    };
    readonly matchConditions?: readonly { readonly expression: string }[];
  };
}

interface PolicyBinding extends KubeObject {
  readonly spec?: { readonly policyName?: string };
}

/** Finds the MutatingAdmissionPolicies that point new Pods at their copies by what they do, because kustomize may rename them. */
function readPointingPolicies(client: ApiClient): Promise<ReadPolicies> {
  const { mutatingAdmissionPolicies, mutatingAdmissionPolicyBindings } = resources;
  return readPolicies(client, mutatingAdmissionPolicies, mutatingAdmissionPolicyBindings, ({ matchConditions = [] }) =>
    matchConditions.some(({ expression }) => expression.includes(`'${pinnedAnnotation}'`)),
  );
}

/** Finds the ValidatingAdmissionPolicies that protect copies, also by what they do. */
function readProtectingPolicies(client: ApiClient): Promise<ReadPolicies> {
  const { validatingAdmissionPolicies, validatingAdmissionPolicyBindings } = resources;
  return readPolicies(
    client,
    validatingAdmissionPolicies,
    validatingAdmissionPolicyBindings,
    ({ matchConstraints }) => matchConstraints?.objectSelector?.matchLabels?.[pinnedCopyLabel] === "true",
  );
}

async function readPolicies(
  client: ApiClient,
  policies: Resource,
  bindings: Resource,
  isWanted: (spec: NonNullable<AdmissionPolicy["spec"]>) => boolean,
): Promise<ReadPolicies> {
  const wanted = (policy: AdmissionPolicy) => (isWanted(policy.spec ?? {}) ? policy : undefined);
  const found = await tryList(client, policies, {}, wanted);
  if ("unread" in found) return found;
  const bound = await tryList(client, bindings, {}, ({ metadata, spec }: PolicyBinding) => {
    return { name: metadata.name, policy: spec?.policyName };
  });
  if ("unread" in bound) return bound;
  return {
    read: found.read.map(({ metadata, spec }) => ({
      namespaces: spec?.matchConstraints?.namespaceSelector?.matchExpressions?.flatMap(({ values = [] }) => values),
      bindings: bound.read.flatMap(({ name, policy }) => (policy === metadata.name ? [name] : [])),
    })),
  };
}
