import { type Place, placesOf } from "./model-reading.ts";
import type { Stored } from "./model-stored.ts";
import type { StoredObject } from "./record.ts";

interface Container {
  readonly name: string;
}

interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly { readonly name: string }[];
}

/** Returns the init containers and the containers of a Pod. */
export function containersOf({ spec }: StoredObject): readonly Container[] {
  const { containers = [], initContainers = [] } = spec as PodSpec;
  return [...initContainers, ...containers];
}

/** Returns the references of a Pod, or of the part `spec` of it, also of volumes that no container mounts: the kubelet of the sandbox waits for these, too. */
export function placesOfPod(pod: StoredObject, spec = pod.spec): readonly Place[] {
  return placesOf({ ...pod, metadata: { ...pod.metadata, annotations: {} }, spec: { template: { spec } } });
}

/** Returns the references of one container of a Pod. */
export function placesOfContainer(pod: StoredObject, name: string): readonly Place[] {
  const { volumes = [] } = pod.spec as PodSpec;
  const container = containersOf(pod).find((each) => each.name === name) as
    | { readonly volumeMounts?: readonly { readonly name: string }[] }
    | undefined;
  const mounted = volumes.filter((volume) => container?.volumeMounts?.some((mount) => mount.name === volume.name));
  return placesOfPod(pod, { containers: [container], volumes: mounted });
}

/** Returns the hash of the pod template that a Pod was created from. */
export function hashOfPod({ metadata }: StoredObject): string | undefined {
  return metadata.annotations?.["wave.pusher.com/config-hash"];
}

/** Reports whether a Pod has the containers of the current pod template of its workload. */
export function isOfTemplate({ spec }: StoredObject, workload: StoredObject): boolean {
  const { template } = workload.spec as { readonly template?: { readonly spec?: PodSpec } };
  const containers = ({ containers, initContainers }: PodSpec) => JSON.stringify([containers, initContainers]);
  return template?.spec !== undefined && containers(spec as PodSpec) === containers(template.spec);
}

/** Returns the workload of a Pod. */
export function ownerOf(object: StoredObject, { objects }: Pick<Stored, "objects">): StoredObject | undefined {
  const reference = object.metadata.ownerReferences?.find(({ controller }) => controller);
  const owner = [...objects.values()].find(({ metadata }) => metadata.uid === reference?.uid);
  return owner?.kind === "ReplicaSet" ? ownerOf(owner, { objects }) : owner;
}
