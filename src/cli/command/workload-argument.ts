import type { WorkloadKind, WorkloadRow } from "../../domain/model/kind-row.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { knownKinds } from "../../domain/model/kinds/known-kinds.ts";
import { parseRequestedKind, requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import { formatList, isDnsSubdomain } from "../../domain/syntax/names.ts";
import { type Resource, resources } from "../../kube/api/resources.ts";
import { UsageError } from "../flags/flag-types.ts";
import { type ArgumentKind, argumentErrorTexts } from "./command.ts";

/** An object as an argument names it, without its namespace. */
interface ObjectArgument<K extends string, R extends Resource = Resource> {
  readonly kind: K;
  readonly resource: R;
  readonly name: string;
}

/** A workload as an argument names it, without its namespace. */
export type WorkloadArgument = ObjectArgument<WorkloadKind, WorkloadRow>;

/** The workload kinds that every cluster has. */
export const builtInArgumentKinds: readonly ArgumentKind<WorkloadKind, WorkloadRow>[] = builtInKinds.map((row) => ({
  kind: row.id,
  resource: row,
  names: [...row.shortNames, row.kind.toLowerCase(), row.plural],
}));

/** Every workload kind that Wave knows by name. Only the cluster knows the API version of a kind that is not built in. */
export const workloadArgumentKinds: readonly ArgumentKind<WorkloadKind, WorkloadRow>[] = [
  ...builtInArgumentKinds,
  ...Object.entries(knownKinds).flatMap(([id, { shortNames }]) => kindBeforeDiscovery(id, shortNames)),
];

function kindBeforeDiscovery(
  id: WorkloadKind,
  names: readonly string[] = [],
): readonly ArgumentKind<WorkloadKind, WorkloadRow>[] {
  const wanted = parseRequestedKind(id);
  if (wanted === undefined) return [];
  const resource = requestedKindRow(wanted, { apiVersion: `${wanted.group}/unknown`, kind: wanted.plural });
  return [{ kind: id, resource, names: [id, ...names] }];
}

/** The kinds of configuration objects: ConfigMap and Secret. */
export const configArgumentKinds: readonly ArgumentKind<"ConfigMap" | "Secret">[] = [
  { kind: "ConfigMap", resource: resources.configMaps, names: ["cm", "configmap", "configmaps"] },
  { kind: "Secret", resource: resources.secrets, names: ["secret", "secrets"] },
];

/** The kind Namespace, for commands that also annotate Namespaces. */
export const namespaceArgumentKinds: readonly ArgumentKind<"Namespace">[] = [
  { kind: "Namespace", resource: resources.namespaces, names: ["ns", "namespace", "namespaces"] },
];

/**
 * Returns the workload that `deploy/web`, `deployments.apps/web` or `deployment web` names, as `kubectl` reads it, in any case.
 * @throws UsageError with one line that names the right form.
 */
export function parseWorkloadArgument(positionals: readonly string[]): WorkloadArgument {
  return parseOneArgument(positionals, workloadArgumentKinds);
}

/** Returns the one object that the arguments name, like {@link parseWorkloadArgument}. */
export function parseOneArgument<K extends string, R extends Resource>(
  positionals: readonly string[],
  kinds: readonly ArgumentKind<K, R>[],
): ObjectArgument<K, R> {
  const [first, second] = parseObjectArguments(positionals, kinds);
  if (first === undefined) throw new UsageError(argumentErrorTexts.noWorkload);
  if (second !== undefined) throw new UsageError(argumentErrorTexts.tooManyWorkloads(positionals.at(-1) ?? ""));
  return first;
}

/** Returns the objects that `deploy/web sts/db` or `deploy web api` name, each once. Throws a UsageError that names the right form. */
export function parseObjectArguments<K extends string, R extends Resource>(
  positionals: readonly string[],
  kinds: readonly ArgumentKind<K, R>[],
): readonly ObjectArgument<K, R>[] {
  const [first, ...rest] = positionals;
  if (first === undefined)
    throw new UsageError(
      kinds.some(({ resource }) => !("id" in resource)) ? argumentErrorTexts.noObject : argumentErrorTexts.noWorkload,
    );
  const named = first.includes("/") ? positionals.map(withSlash) : rest.map((name) => [first, name] as const);
  if (named.length === 0) throw missingName(first, listedKind(first, kinds));
  const all = named.map(([kindName, name]) => argument(kindName, name, kinds));
  return [...new Map(all.map((one) => [`${one.kind}/${one.name}`, one])).values()];
}

function withSlash(word: string): readonly [kind: string, name: string] {
  const slash = word.indexOf("/");
  if (slash <= 0) {
    const name = word.slice(slash + 1);
    throw new UsageError(argumentErrorTexts.noKind(word, name));
  }
  return [word.slice(0, slash), word.slice(slash + 1)];
}

/** Returns the kind with this name; a custom kind only if the command accepts workloads. Undefined if no kind has the name. */
export function findArgumentKind<K extends string, R extends Resource>(
  word: string,
  kinds: readonly ArgumentKind<K, R>[],
): ArgumentKind<K, R> | undefined {
  return listedKind(word, kinds) ?? customKind(word, kinds);
}

function argument<K extends string, R extends Resource>(
  kindName: string,
  name: string,
  kinds: readonly ArgumentKind<K, R>[],
): ObjectArgument<K, R> {
  const row = findArgumentKind(kindName, kinds);
  if (row === undefined) throw unknownKind(kindName, kinds);
  if (name === "") throw missingName(kindName, row);
  if (name.includes("/") && isDnsSubdomain(name.replace("/", "-")))
    throw new UsageError(argumentErrorTexts.twoSlashes(`${kindName}/${name}`, kindName));
  if (!isDnsSubdomain(name)) throw new UsageError(argumentErrorTexts.invalidName(name, row.kind));
  return { kind: row.kind, resource: row.resource, name };
}

function listedKind<K extends string, R extends Resource>(
  kindName: string,
  kinds: readonly ArgumentKind<K, R>[],
): ArgumentKind<K, R> | undefined {
  const lower = kindName.toLowerCase();
  // Kinds of another group, such as deployments.extensions, are other kinds.
  const withoutGroup = lower.replace(/\.(v1\.)?apps$/, "");
  return kinds.find(({ names, resource }) => names.includes(resource.apiVersion === "apps/v1" ? withoutGroup : lower));
}

/** Returns the kind of `widgets.example.com` if the command accepts workloads: the group of a custom kind has a dot. */
function customKind<K extends string, R extends Resource>(
  kindName: string,
  kinds: readonly ArgumentKind<K, R>[],
): ArgumentKind<K, R> | undefined {
  const acceptsAny = acceptsWorkloads(kinds);
  const [custom] = acceptsAny && /^[^./]+\.[^/]+\./.test(kindName) ? kindBeforeDiscovery(kindName.toLowerCase()) : [];
  return custom as ArgumentKind<string, Resource> as ArgumentKind<K, R> | undefined;
}

/** Reports whether a workload kind is among the kinds. Only then an argument may name a custom kind, such as `widgets.example.com`. */
export function acceptsWorkloads(kinds: readonly ArgumentKind<string>[]): boolean {
  return kinds.some(({ resource }) => "id" in resource);
}

/** Reports whether the resource of an argument is that of a workload. */
export function isWorkloadRow(resource: Resource): resource is WorkloadRow {
  return "id" in resource;
}

function missingName(kindName: string, row: ArgumentKind<string> | undefined): UsageError {
  if (row !== undefined) return new UsageError(argumentErrorTexts.noName(row.kind, row.kind.toLowerCase()));
  if (!isDnsSubdomain(kindName)) return new UsageError(argumentErrorTexts.notAKind(kindName));
  return new UsageError(argumentErrorTexts.noKind(kindName, kindName));
}

function unknownKind(kindName: string, kinds: readonly ArgumentKind<string>[]): UsageError {
  const shown = kinds.filter(({ kind }) => !kind.includes("."));
  const names = formatList(shown, shown.length, ({ kind }) => kind.toLowerCase()).replace(" and ", " or ");
  const { unsupportedKind, unsupportedWorkloadKind } = argumentErrorTexts;
  return new UsageError((acceptsWorkloads(kinds) ? unsupportedWorkloadKind : unsupportedKind)(kindName, names));
}

/** An object of the cluster that a command names. */
export interface NamedObject extends ObjectArgument<string> {
  /** The namespace of the object; for a Namespace, the namespace of the context or of -n. */
  readonly namespace: string;
}

/** Returns the name of an object: `deployment/web`. */
export function objectName({ kind, name }: Pick<NamedObject, "kind" | "name">): string {
  return `${kind.toLowerCase()}/${name}`;
}

/** Compares objects by namespace, kind and name, for sorting. */
export function byObjectName(a: Named, b: Named): number {
  const [first = "", second = ""] = [a, b].map(({ namespace, kind, name }) => [namespace, kind, name].join(" "));
  return first < second ? -1 : 1;
}

type Named = Pick<NamedObject, "namespace" | "kind" | "name">;

/** Returns the name of an object with its namespace: `deployment/web in namespace shop`, `namespace/shop`. */
export function qualifiedName({ kind, name, resource, namespace }: NamedObject): string {
  return `${objectName({ kind, name })}${resource.namespaced ? ` in namespace ${namespace}` : ""}`;
}

/** Returns the arguments that name an object on a command line: `deployment/web -n shop`. */
export function commandArguments({ kind, name, resource, namespace }: NamedObject): string {
  return `${objectName({ kind, name })}${resource.namespaced ? ` -n ${namespace}` : ""}`;
}
