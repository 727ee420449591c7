import { builtInKinds } from "../../domain/model/built-in-kinds.ts";
import { knownKinds } from "../../domain/model/kinds/known-kinds.ts";
import { readWantedKind, rowOf } from "../../domain/model/kinds/requested-kind.ts";
import type { WorkloadKind, WorkloadRow } from "../../domain/model/workload.ts";
import { isDnsSubdomain } from "../../domain/syntax/dns-name.ts";
import { enumerated, quoted } from "../../domain/syntax/wording.ts";
import { type Resource, resources } from "../../kube/api/resources.ts";
import { UsageError } from "../flags/usage-error.ts";

/** Which object a person means, but for its namespace. */
export interface ObjectArgument<K extends string, R extends Resource = Resource> {
  readonly kind: K;
  readonly resource: R;
  readonly name: string;
}

/** Which workload a person means, but for its namespace. */
export type WorkloadArgument = ObjectArgument<WorkloadKind, WorkloadRow>;

/** A kind of object that a command takes. */
export interface KindRow<K extends string, R extends Resource = Resource> {
  readonly kind: K;
  readonly resource: R;
  /** By what names `kubectl` knows it (`kubectl api-resources`). */
  readonly names: readonly string[];
}

/** The kinds of workload. */
export const workloadRows: readonly KindRow<WorkloadKind, WorkloadRow>[] = builtInKinds.map((row) => ({
  kind: row.id,
  resource: row,
  names: [...row.shortNames, row.kind.toLowerCase(), row.plural],
}));

/** Those of which Wave knows more than of any other, as they are named; what they are like is told by the cluster: `asFound`. */
export const namedWorkloadRows: readonly KindRow<WorkloadKind, WorkloadRow>[] = [
  ...workloadRows,
  ...Object.entries(knownKinds).flatMap(([id, { shortNames }]) => notFoundYet(id, shortNames)),
];

function notFoundYet(id: WorkloadKind, names: readonly string[] = []): readonly KindRow<WorkloadKind, WorkloadRow>[] {
  const wanted = readWantedKind(id);
  if (wanted === undefined) return [];
  const resource = rowOf(wanted, { apiVersion: `${wanted.group}/unknown`, kind: wanted.plural });
  return [{ kind: id, resource, names: [id, ...names] }];
}

/** The kinds that hold configuration. */
export const configRows: readonly KindRow<"ConfigMap" | "Secret">[] = [
  { kind: "ConfigMap", resource: resources.configMaps, names: ["cm", "configmap", "configmaps"] },
  { kind: "Secret", resource: resources.secrets, names: ["secret", "secrets"] },
];

/** Namespaces themselves. */
export const namespaceRows: readonly KindRow<"Namespace">[] = [
  { kind: "Namespace", resource: resources.namespaces, names: ["ns", "namespace", "namespaces"] },
];

/**
 * The workload that `deploy/web`, `deployments.apps/web` or `deployment web` names: as `kubectl` reads it, in any case.
 * Throws a UsageError of one line that says what to write.
 */
export function parseWorkloadArgument(positionals: readonly string[]): WorkloadArgument {
  const [first, second] = parseArguments(positionals, namedWorkloadRows);
  if (first === undefined) throw new UsageError("name a workload, such as deployment/web");
  if (second !== undefined) throw new UsageError(`name one workload; ${quoted(positionals.at(-1) ?? "")} is one more`);
  return first;
}

/**
 * The objects that `deploy/web sts/db` or `deploy web api` name: as `kubectl` reads it, in any case; at least one, each
 * once. Throws a UsageError of one line that says what to write.
 */
export function parseArguments<K extends string, R extends Resource>(
  positionals: readonly string[],
  rows: readonly KindRow<K, R>[],
): readonly ObjectArgument<K, R>[] {
  const [first, ...rest] = positionals;
  if (first === undefined)
    throw new UsageError(
      `name ${rows.some(({ resource }) => !("id" in resource)) ? "an object" : "a workload"}, such as deployment/web`,
    );
  const named = first.includes("/") ? positionals.map(withSlash) : rest.map((name) => [first, name] as const);
  if (named.length === 0) throw withoutName(first, rowNamed(first, rows));
  const all = named.map(([kindName, name]) => argument(kindName, name, rows));
  return [...new Map(all.map((one) => [`${one.kind}/${one.name}`, one])).values()];
}

function withSlash(word: string): readonly [kind: string, name: string] {
  const slash = word.indexOf("/");
  if (slash <= 0) {
    const name = word.slice(slash + 1);
    throw new UsageError(`${quoted(word)}: say of which kind it is, such as deployment/${name}`);
  }
  return [word.slice(0, slash), word.slice(slash + 1)];
}

/** The kind that a word names, in any of its names; a custom one only where workloads are taken. Undefined where it names none. */
export function kindNamed<K extends string, R extends Resource>(
  word: string,
  rows: readonly KindRow<K, R>[],
): KindRow<K, R> | undefined {
  return rowNamed(word, rows) ?? customKind(word, rows);
}

function argument<K extends string, R extends Resource>(
  kindName: string,
  name: string,
  rows: readonly KindRow<K, R>[],
): ObjectArgument<K, R> {
  const row = kindNamed(kindName, rows);
  if (row === undefined) throw unknownKind(kindName, rows);
  if (name === "") throw withoutName(kindName, row);
  if (name.includes("/") && isDnsSubdomain(name.replace("/", "-")))
    throw new UsageError(`${quoted(`${kindName}/${name}`)}: name one ${row.kind} a word, such as ${kindName}/web`);
  if (!isDnsSubdomain(name)) throw new UsageError(`${quoted(name)} is not a name that a ${row.kind} can have`);
  return { kind: row.kind, resource: row.resource, name };
}

function rowNamed<K extends string, R extends Resource>(
  kindName: string,
  rows: readonly KindRow<K, R>[],
): KindRow<K, R> | undefined {
  const lower = kindName.toLowerCase();
  // Those of another group, such as deployments.extensions, are others.
  const withoutGroup = lower.replace(/\.(v1\.)?apps$/, "");
  return rows.find(({ names, resource }) => names.includes(resource.apiVersion === "apps/v1" ? withoutGroup : lower));
}

/** `widgets.example.com`, where workloads are asked for: the group of what is no built-in kind has a dot in it. */
function customKind<K extends string, R extends Resource>(
  kindName: string,
  rows: readonly KindRow<K, R>[],
): KindRow<K, R> | undefined {
  const takesAny = takesWorkloads(rows);
  const [row] = takesAny && /^[^./]+\.[^/]+\./.test(kindName) ? notFoundYet(kindName.toLowerCase()) : [];
  return row as KindRow<string, Resource> as KindRow<K, R> | undefined;
}

/** Whether any of these kinds is one of workloads. */
export function takesWorkloads(rows: readonly KindRow<string>[]): boolean {
  return rows.some(({ resource }) => "id" in resource);
}

function withoutName(kindName: string, row: KindRow<string> | undefined): UsageError {
  if (row !== undefined) return new UsageError(`name one ${row.kind}, such as ${row.kind.toLowerCase()}/web`);
  if (!isDnsSubdomain(kindName))
    return new UsageError(`${quoted(kindName)} is no kind; write for example deployment/web`);
  return new UsageError(`${quoted(kindName)}: say of which kind it is, such as deployment/${kindName}`);
}

function unknownKind(kindName: string, rows: readonly KindRow<string>[]): UsageError {
  const shown = rows.filter(({ kind }) => !kind.includes("."));
  const kinds = enumerated(shown, shown.length, ({ kind }) => kind.toLowerCase()).replace(" and ", " or ");
  return new UsageError(`Wave knows no ${quoted(kindName)} here, only a ${kinds}`);
}
