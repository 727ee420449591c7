import type {
  Container,
  EnvFromSource,
  EnvVarSource,
  PodSpec,
  Volume,
  VolumeMount,
  VolumeProjection,
} from "kubernetes-types/core/v1.d.ts";
import type { ConfigKind, Reading, Reference } from "./references.ts";
import { readVolume, type Shown, shownBy, type VolumeSource } from "./volumes.ts";

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

const projectedSources: readonly Source<VolumeProjection, NamedVolumeSource>[] = [
  { field: "configMap", kind: "ConfigMap", of: (source) => source.configMap },
  { field: "secret", kind: "Secret", of: (source) => source.secret },
];

/**
 * Every reference of a pod spec to a ConfigMap or Secret that its Pods see, one for each place, in the order of the
 * spec. Sidecars are initContainers. Not among them: imagePullSecrets and the secrets of storage drivers, which no
 * container sees.
 */
export function podReferences(spec: PodSpec, namespace: string): readonly Reference[] {
  const path = "spec.template.spec";
  const containers = containersOf(spec, path);
  const found: Found[] = [
    ...containers.flatMap(([container, at]) => [...envFromOf(container, at), ...envOf(container, at)]),
    ...volumesOf(spec, path, shownByVolume(containers.map(([container]) => container))),
  ];
  // The API server refuses a reference without a name where it matters.
  return found.filter(({ name }) => name !== "").map((reference) => ({ ...reference, namespace }));
}

type Found = Omit<Reference, "namespace">;

function containersOf({ initContainers = [], containers = [] }: PodSpec, path: string): readonly [Container, string][] {
  return [
    ...initContainers.map((container, i): [Container, string] => [container, `${path}.initContainers[${i}]`]),
    ...containers.map((container, i): [Container, string] => [container, `${path}.containers[${i}]`]),
  ];
}

function envFromOf({ envFrom = [] }: Container, path: string): readonly Found[] {
  const reading = ({ optional = false }: WholeObject): readonly Reading[] => [{ reads: "env", keys: "all", optional }];
  return envFrom.flatMap((source, i) => read(envFromSources, source, `${path}.envFrom[${i}]`, reading));
}

function envOf({ env = [] }: Container, path: string): readonly Found[] {
  const reading = ({ key, optional = false }: KeySelector): readonly Reading[] => [
    { reads: "env", keys: [key], optional },
  ];
  return env.flatMap(({ valueFrom }, i) =>
    valueFrom ? read(envSources, valueFrom, `${path}.env[${i}].valueFrom`, reading) : [],
  );
}

function volumesOf({ volumes = [] }: PodSpec, path: string, shown: ReadonlyMap<string, Shown>): readonly Found[] {
  return volumes.flatMap((volume, i) => {
    const at = `${path}.volumes[${i}]`;
    const reading = (source: VolumeSource) => readVolume(source, shown.get(volume.name) ?? "all");
    const projected = volume.projected?.sources ?? [];
    return [
      ...read(volumeSources, volume, at, reading),
      ...projected.flatMap((source, j) => read(projectedSources, source, `${at}.projected.sources[${j}]`, reading)),
    ];
  });
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
  reading: (value: Value) => readonly Reading[],
): readonly Found[] {
  return sources.flatMap(({ field, kind, of }) => {
    const value = of(owner);
    if (!value) return [];
    return reading(value).map((found) => ({ kind, name: value.name ?? "", ...found, path: `${path}.${field}` }));
  });
}
