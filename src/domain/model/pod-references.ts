import type {
  Container,
  EnvFromSource,
  EnvVarSource,
  PodSpec,
  Volume,
  VolumeMount,
  VolumeProjection,
} from "kubernetes-types/core/v1.d.ts";
import { wholeObject } from "../compatibility/directive.ts";
import type { ConfigKind, Reading, Reference } from "../references/references.ts";
import { readVolume, type Shown, shownBy, type VolumeSource } from "../references/volumes.ts";

/** A field of the pod spec that refers to a ConfigMap or Secret. */
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
  // The one place where the API calls the name otherwise.
  { field: "secret", kind: "Secret", of: ({ secret }) => secret && { ...secret, name: secret.secretName ?? "" } },
];

/** The driver of the Secrets Store, and what of its volumes names a class (https://secrets-store-csi-driver.sigs.k8s.io/concepts). */
const secretsStore = { driver: "secrets-store.csi.k8s.io", attribute: "secretProviderClass" };

const projectedSources: readonly Source<VolumeProjection, NamedVolumeSource>[] = [
  { field: "configMap", kind: "ConfigMap", of: (source) => source.configMap },
  { field: "secret", kind: "Secret", of: (source) => source.secret },
];

/** Told of each reference as it is found. */
export type Found = (reference: Reference) => void;

/**
 * Tells every reference of a pod spec to a ConfigMap or Secret that its Pods see, one for each place, in the order of
 * the spec. Sidecars are initContainers. Not among them: imagePullSecrets and the secrets of storage drivers, which no
 * container sees. Lists of keys are shared between references.
 */
export function podReferences(spec: PodSpec, namespace: string, found: Found): void {
  const { volumes = [], initContainers = [], containers = [] } = spec;
  const path = "spec.template.spec";
  for (const [i, container] of initContainers.entries()) {
    environmentOf(container, `${path}.initContainers[${i}]`, namespace, found);
  }
  for (const [i, container] of containers.entries()) {
    environmentOf(container, `${path}.containers[${i}]`, namespace, found);
  }
  const shown = shownByVolume([...initContainers, ...containers]);
  for (const [i, volume] of volumes.entries()) {
    volumeReferences(volume, `${path}.volumes[${i}]`, namespace, shown.get(volume.name) ?? "all", found);
  }
}

function environmentOf({ envFrom = [], env = [] }: Container, path: string, namespace: string, found: Found): void {
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

function volumeReferences(volume: Volume, path: string, namespace: string, shown: Shown, found: Found): void {
  const reading = (source: VolumeSource) => readVolume(source, shown);
  read(volumeSources, volume, path, namespace, reading, found);
  const { driver, volumeAttributes } = volume.csi ?? {};
  const className = driver === secretsStore.driver ? volumeAttributes?.[secretsStore.attribute] : undefined;
  if (typeof className === "string" && className !== "") {
    // Nobody waits for it: what it fetches is known only once a Pod has mounted it.
    const place = `${path}.csi.volumeAttributes.${secretsStore.attribute}`;
    found(wholeObject("SecretProviderClass", namespace, className, place));
  }
  for (const [i, source] of (volume.projected?.sources ?? []).entries()) {
    read(projectedSources, source, `${path}.projected.sources[${i}]`, namespace, reading, found);
  }
}

/** What the mounts of each volume show, by its name: found once, however many sources the volume has. */
function shownByVolume(containers: readonly Container[]): ReadonlyMap<string, Shown> {
  const mounts = containers.flatMap(({ volumeMounts = [] }) => volumeMounts);
  const byVolume: ReadonlyMap<string, readonly VolumeMount[]> = Map.groupBy(mounts, ({ name }) => name);
  return new Map(Array.from(byVolume, ([name, ofVolume]) => [name, shownBy(ofVolume)]));
}

function read<Owner, Value extends { readonly name?: string }>(
  sources: readonly Source<Owner, Value>[],
  owner: Owner,
  path: string,
  namespace: string,
  reading: (value: Value) => readonly Reading[],
  found: Found,
): void {
  for (const { field, kind, of } of sources) {
    const value = of(owner);
    // The API server refuses a reference without a name where it matters.
    if (!value?.name) continue;
    for (const { reads, keys, optional } of reading(value)) {
      found({ kind, namespace, name: value.name, reads, keys, optional, path: `${path}.${field}` });
    }
  }
}
