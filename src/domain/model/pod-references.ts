import type {
  Container,
  EnvFromSource,
  EnvVarSource,
  PodSpec,
  Volume,
  VolumeMount,
  VolumeProjection,
} from "#kubernetes";
import { type ConfigKind, type Reading, type Reference, wholeObject } from "../references/references.ts";
import { readVolume, type VisiblePaths, type VolumeSource, visiblePathsOf } from "../references/volumes.ts";

/** A field of the pod spec that references a ConfigMap or Secret. */
interface Source<Owner, Value> {
  readonly field: string;
  readonly kind: ConfigKind;
  readonly of: (owner: Owner) => Value | undefined;
}

interface KeySelector {
  readonly name?: string;
  readonly key: string;
  readonly optional?: boolean;
}

interface WholeObject {
  readonly name?: string;
  readonly optional?: boolean;
}

interface NamedVolumeSource extends VolumeSource {
  readonly name?: string;
}

const envSources: readonly Source<EnvVarSource, KeySelector>[] = [
  { field: "configMapKeyRef", kind: "ConfigMap", of: (source) => source.configMapKeyRef },
  { field: "secretKeyRef", kind: "Secret", of: (source) => source.secretKeyRef },
];

const envFromSources: readonly Source<EnvFromSource, WholeObject>[] = [
  { field: "configMapRef", kind: "ConfigMap", of: (source) => source.configMapRef },
  { field: "secretRef", kind: "Secret", of: (source) => source.secretRef },
];

const volumeSources: readonly Source<Volume, NamedVolumeSource>[] = [
  { field: "configMap", kind: "ConfigMap", of: (volume) => volume.configMap },
  // The only place where the API has another name for the field.
  { field: "secret", kind: "Secret", of: ({ secret }) => secret && { ...secret, name: secret.secretName ?? "" } },
];

/** The Secrets Store CSI driver, and the volume attribute that names a class (https://secrets-store-csi-driver.sigs.k8s.io/concepts). */
const secretsStore = { driver: "secrets-store.csi.k8s.io", attribute: "secretProviderClass" };

/** Reports whether the Pods mount a volume of the Secrets Store driver. The driver may also create Secrets, but only when a Pod mounts the volume. */
export function mountsSecretsStore({ volumes }: PodSpec): boolean {
  return volumes?.some(({ csi }) => csi?.driver === secretsStore.driver) ?? false;
}

const projectedSources: readonly Source<VolumeProjection, NamedVolumeSource>[] = [
  { field: "configMap", kind: "ConfigMap", of: (source) => source.configMap },
  { field: "secret", kind: "Secret", of: (source) => source.secret },
];

/** A function that receives each reference that is found. */
export type ReferenceVisitor = (reference: Reference) => void;

/**
 * Calls `found` for every reference of a pod spec to configuration that its Pods read, one for each place, in the order of the spec.
 * Includes sidecars, which are initContainers. Excludes imagePullSecrets and the secrets of storage drivers, which no container
 * reads. References may share lists of keys.
 */
export function podReferences(spec: PodSpec, namespace: string, found: ReferenceVisitor): void {
  const { volumes = [], initContainers = [], containers = [] } = spec;
  const path = "spec.template.spec";
  for (const [i, container] of initContainers.entries()) {
    environmentOf(container, `${path}.initContainers[${i}]`, namespace, found);
  }
  for (const [i, container] of containers.entries()) {
    environmentOf(container, `${path}.containers[${i}]`, namespace, found);
  }
  const visible = visiblePathsByVolume([...initContainers, ...containers]);
  for (const [i, volume] of volumes.entries()) {
    volumeReferences(volume, `${path}.volumes[${i}]`, namespace, visible.get(volume.name) ?? "all", found);
  }
}

function environmentOf(
  { envFrom = [], env = [] }: Container,
  path: string,
  namespace: string,
  found: ReferenceVisitor,
): void {
  for (const [i, source] of envFrom.entries()) {
    read(envFromSources, source, `${path}.envFrom[${i}]`, namespace, readAll, found);
  }
  for (const [i, { valueFrom }] of env.entries()) {
    if (valueFrom) read(envSources, valueFrom, `${path}.env[${i}].valueFrom`, namespace, readKey, found);
  }
}

function readAll({ optional = false }: WholeObject): readonly Reading[] {
  return [{ reads: "env", keys: "all", optional }];
}

function readKey({ key, optional = false }: KeySelector): readonly Reading[] {
  return [{ reads: "env", keys: [key], optional }];
}

function volumeReferences(
  volume: Volume,
  path: string,
  namespace: string,
  visible: VisiblePaths,
  found: ReferenceVisitor,
): void {
  const reading = (source: VolumeSource) => readVolume(source, visible);
  read(volumeSources, volume, path, namespace, reading, found);
  const { driver, volumeAttributes } = volume.csi ?? {};
  const className = driver === secretsStore.driver ? volumeAttributes?.[secretsStore.attribute] : undefined;
  if (typeof className === "string" && className !== "") {
    // Wave does not wait for a class: its objects are known only after a Pod has mounted them.
    const origin = `${path}.csi.volumeAttributes.${secretsStore.attribute}`;
    found(wholeObject("SecretProviderClass", namespace, className, { path: origin }));
  }
  for (const [i, source] of (volume.projected?.sources ?? []).entries()) {
    read(projectedSources, source, `${path}.projected.sources[${i}]`, namespace, reading, found);
  }
}

/** Returns the visible paths of each volume by name. Computed once, for any number of sources of the volume. */
function visiblePathsByVolume(containers: readonly Container[]): ReadonlyMap<string, VisiblePaths> {
  const mounts = containers.flatMap(({ volumeMounts = [] }) => volumeMounts);
  const byVolume: ReadonlyMap<string, readonly VolumeMount[]> = Map.groupBy(mounts, ({ name }) => name);
  return new Map(Array.from(byVolume, ([name, ofVolume]) => [name, visiblePathsOf(ofVolume)]));
}

function read<Owner, Value extends { readonly name?: string }>(
  sources: readonly Source<Owner, Value>[],
  owner: Owner,
  path: string,
  namespace: string,
  reading: (value: Value) => readonly Reading[],
  found: ReferenceVisitor,
): void {
  for (const { field, kind, of } of sources) {
    const value = of(owner);
    // The API server rejects a missing name if it matters.
    if (!value?.name) continue;
    for (const { reads, keys, optional } of reading(value)) {
      found({ kind, namespace, name: value.name, reads, keys, optional, path: `${path}.${field}` });
    }
  }
}
