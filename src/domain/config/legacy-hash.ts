import { createHash } from "node:crypto";
import type { PodSpec } from "#kubernetes";
import { sapConfigHash, sapLists } from "../compatibility/directive.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import type { Workload } from "../model/workload-shape.ts";
import { extraConfigMaps, extraSecrets } from "../references/annotations.ts";
import { configKey, type StoredKind, type StoredName } from "../references/references.ts";
import type { ConfigObject } from "./digest.ts";
import { type ConfigView, recordedConfigFor, writeRecordedConfig } from "./hash.ts";

/** Returns the computation of the other controller whose annotation contains the hash of a workload. */
export function legacyDigest(
  { hashAnnotation }: Pick<Workload, "hashAnnotation">,
  object: WorkloadObject,
): LegacyDigest {
  return hashAnnotation === sapConfigHash ? digestOfPodReloader(object) : digestOfWaveInGo(object);
}

/** One way in which a workload reads an object, as Wave in Go sees it. */
interface Part extends StoredName {
  readonly keys: "all" | readonly string[];
}

/** The two fields of the hashed JSON text, in order. */
const fields: readonly { readonly kind: StoredKind; readonly field: string }[] = [
  { kind: "ConfigMap", field: "configMaps" },
  { kind: "Secret", field: "secrets" },
];

/**
 * Computes the hash of Wave in Go (0.11): the SHA-256, as plain hexadecimal digits, of a JSON text. The text has each object
 * by its name without the namespace, and each key with the value in base64, all sorted. Missing objects are left out. The
 * rules are in https://github.com/wave-k8s/wave/blob/master/pkg/core/children.go and in hash.go in the same folder.
 */
export function* digestOfWaveInGo(object: WorkloadObject): LegacyDigest {
  const parts = partsOf(object);
  const sum = createHash("sha256");
  for (const [index, { kind, field }] of fields.entries()) {
    sum.update(`${index === 0 ? "{" : ","}"${field}":{`);
    const byName = Map.groupBy(
      parts.filter((part) => part.kind === kind),
      ({ name }) => name,
    );
    let separator = "";
    for (const name of [...byName.keys()].sort()) {
      const data = yield* dataOf(byName.get(name) ?? []);
      if (data === undefined) continue;
      sum.update(`${separator}${JSON.stringify(name)}:${jsonOf(data)}`);
      separator = ",";
    }
    sum.update("}");
  }
  return sum.update("}").digest("hex");
}

/** Returns the values of all objects with one name, in base64; undefined if no such object exists. */
function* dataOf(parts: readonly Part[]): Generator<StoredName, Values | undefined, ConfigObject | undefined> {
  const found = new Map<string, Values | undefined>();
  const merged = new Map<string, string>();
  for (const part of withoutRepeated(parts)) {
    const { kind, namespace, name, keys } = part;
    const id = configKey(part);
    if (!found.has(id)) {
      const object = yield { kind, namespace, name };
      found.set(id, object && valuesOf(kind, object));
    }
    const values = found.get(id);
    if (values === undefined) continue;
    for (const key of keys === "all" ? values.keys() : keys) {
      const value = values.get(key);
      if (value !== undefined) merged.set(key, value);
    }
  }
  return [...found.values()].some((values) => values !== undefined) ? merged : undefined;
}

/** Keeps only the last part that reads a whole object: the others add nothing and cost time. */
function withoutRepeated(parts: readonly Part[]): readonly Part[] {
  const last = new Map(parts.flatMap((part, index) => (part.keys === "all" ? [[configKey(part), index]] : [])));
  return parts.filter((part, index) => part.keys !== "all" || last.get(configKey(part)) === index);
}

type Values = ReadonlyMap<string, string>;

function valuesOf(kind: StoredKind, object: ConfigObject): Values {
  const binary = "binaryData" in object ? object.binaryData : undefined;
  const encoded = (text: string) => (kind === "Secret" ? text : Buffer.from(text).toString("base64"));
  const data = Object.entries(object.data ?? {}).map(([key, value]) => [key, encoded(value)] as const);
  return new Map([...data, ...(kind === "ConfigMap" ? Object.entries(binary ?? {}) : [])]);
}

/** Returns JSON with sorted keys. JSON.stringify would put numeric keys first. */
function jsonOf(data: Values): string {
  const sorted = [...data].sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, value]) => `${JSON.stringify(key)}:"${value}"`).join(",")}}`;
}

/** Returns the parts in the order of Wave in Go. If two namespaces have objects of one name, the later part wins for a common key. */
function partsOf({ metadata, spec }: WorkloadObject): readonly Part[] {
  const { namespace = "", annotations = {} } = metadata ?? {};
  const podSpec: PodSpec = spec?.template?.spec ?? { containers: [] };
  return [
    ...volumeParts(podSpec, namespace),
    ...extraParts("ConfigMap", annotations[extraConfigMaps], namespace),
    ...extraParts("Secret", annotations[extraSecrets], namespace),
    ...environmentParts(podSpec, namespace),
  ].filter(({ name }) => name !== "");
}

/** Returns all keys of a volume whatever its `items` and mounts are, but only the `items` of a projected volume. */
function volumeParts({ volumes = [] }: PodSpec, namespace: string): readonly Part[] {
  return volumes.flatMap(({ configMap, secret, projected }) => [
    ...(configMap ? [part("ConfigMap", namespace, configMap.name)] : []),
    ...(secret ? [part("Secret", namespace, secret.secretName)] : []),
    ...(projected?.sources ?? []).flatMap((source) => [
      ...(source.configMap ? [part("ConfigMap", namespace, source.configMap.name, keysOf(source.configMap))] : []),
      ...(source.secret ? [part("Secret", namespace, source.secret.name, keysOf(source.secret))] : []),
    ]),
  ]);
}

function keysOf({ items = [] }: { readonly items?: readonly { readonly key: string }[] }): Part["keys"] {
  return items.length === 0 ? "all" : items.map(({ key }) => key);
}

/** Keeps spaces around a name, as Wave in Go does: then no object has this name. */
function extraParts(kind: StoredKind, list: string | undefined, own: string): readonly Part[] {
  return (list?.split(",") ?? []).flatMap((entry) => {
    const [first = "", second, ...rest] = entry.split("/");
    if (rest.length > 0) return [];
    return second === undefined ? part(kind, own, first) : part(kind, first, second);
  });
}

/** Returns the parts of containers. Wave in Go ignores initContainers. */
function environmentParts({ containers = [] }: PodSpec, namespace: string): readonly Part[] {
  const envFrom = containers.flatMap((container) => container.envFrom ?? []);
  const env = containers.flatMap((container) => container.env ?? []);
  return [
    ...envFrom.flatMap(({ configMapRef, secretRef }) => [
      ...(configMapRef ? [part("ConfigMap", namespace, configMapRef.name)] : []),
      ...(secretRef ? [part("Secret", namespace, secretRef.name)] : []),
    ]),
    ...env.flatMap(({ valueFrom }) => [
      ...named("ConfigMap", namespace, valueFrom?.configMapKeyRef),
      ...named("Secret", namespace, valueFrom?.secretKeyRef),
    ]),
  ];
}

function named(
  kind: StoredKind,
  namespace: string,
  selector: { readonly name?: string; readonly key: string } | undefined,
): readonly Part[] {
  return selector ? [part(kind, namespace, selector.name, [selector.key])] : [];
}

function part(kind: StoredKind, namespace: string, name = "", keys: Part["keys"] = "all"): Part {
  return { kind, namespace, name, keys };
}

/**
 * Computes the hash of SAP's pod-reloader: the SHA-256, as plain hexadecimal digits, of one line for each name in its
 * annotations, in their order and as written. A line contains UID and resourceVersion of the object, or nothing if the object
 * does not exist (https://github.com/SAP/pod-reloader/blob/main/internal/reloader/hash.go).
 */
export function* digestOfPodReloader({ metadata }: WorkloadObject): LegacyDigest {
  const { namespace = "", annotations = {} } = metadata ?? {};
  const sum = createHash("sha256");
  for (const { kind, annotation } of sapLists) {
    const list = annotations[annotation];
    for (const name of list ? list.split(",") : []) {
      const object = yield { kind, namespace, name };
      const { uid = "", resourceVersion = "" } = object?.metadata ?? {};
      const state = object === undefined ? "" : `${uid}.${resourceVersion}`;
      sum.update(`${kind.toLowerCase()}/${namespace}/${name}/${state}\n`);
    }
  }
  return sum.digest("hex");
}

/**
 * A computation that repeats the hash of another controller. It yields the name of each object, receives the stored object or
 * undefined, and returns the hash. It keeps no value after it yields the next object of another name.
 */
type LegacyDigest = Generator<StoredName, string, ConfigObject | undefined>;

/**
 * The result of verifying a hash that another controller recorded on a workload. It has the form of a recorded configuration,
 * but Wave keeps it in memory: nothing is written to the workload until its configuration changes.
 */
export interface LegacyVerification {
  readonly uid: string;
  readonly recordedConfig: string;
  /** Whether the recorded hash matched the configuration at that time. Otherwise its configuration is unknown. */
  readonly isCurrent: boolean;
}

/** A hash that no configuration has. */
const noConfiguration = `v2:${"0".repeat(64)}`;

/** Returns the verification of a recorded hash that was recomputed. `isCurrent`: the recomputed hash was equal, for this view. */
export function legacyVerificationOf(
  { uid, recordedHash = "" }: Workload,
  { hash, fullHash }: ConfigView,
  isCurrent: boolean,
): LegacyVerification {
  const config = isCurrent ? { hash, fullHash } : { hash: noConfiguration };
  return { uid, recordedConfig: writeRecordedConfig({ recorded: recordedHash, ...config }), isCurrent };
}

/** Reports whether the recorded hash has the format of other controllers, and no recorded configuration belongs to it. */
export function needsLegacyVerification({ recordedHash, recordedConfig }: Workload): boolean {
  if (recordedHash === undefined || !/^[0-9a-f]{64}$/.test(recordedHash)) return false;
  return recordedConfigFor(recordedHash, recordedConfig) === undefined;
}

/** Reports whether a verification is of the hash that this workload has recorded. */
export function isVerified(
  workload: Workload,
  verification: LegacyVerification | undefined,
): verification is LegacyVerification {
  if (verification === undefined || verification.uid !== workload.uid) return false;
  if (!needsLegacyVerification(workload)) return false;
  return recordedConfigFor(workload.recordedHash ?? "", verification.recordedConfig) !== undefined;
}

/**
 * Returns the workload as the plan reads it: with the verified configuration as its recorded configuration. Only the plan uses
 * it. Patches are made from the workload as it is stored.
 */
export function withLegacyVerification(workload: Workload, verification: LegacyVerification | undefined): Workload {
  return isVerified(workload, verification) ? { ...workload, recordedConfig: verification.recordedConfig } : workload;
}
