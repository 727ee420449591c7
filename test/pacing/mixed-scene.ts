import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, makeNamespace, type WorkloadOptions, workload, workloadPath } from "../end-to-end/objects.ts";

const byEnv = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "page" } }] }] };

/** A Pod as far as these tests read it. */
export interface ScenePod extends AnyObject {
  readonly metadata: AnyObject["metadata"] & { readonly uid: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const prefix = "wave.pusher.com/";
const hashName = `${prefix}config-hash`;
/** Longer than the margin of clocks: Pods that started before an edit are surely older. */
const apartMs = 7_000;

/** A workload "web" with a hash, one of whose Pods started between a bad edit and its revert. */
export interface MixedScene {
  /** The Pods before the edit, without the Pod that was deleted. */
  readonly kept: readonly ScenePod[];
  /** The Pod that may run the bad configuration. */
  readonly mixed: ScenePod;
  /** Lets Wave replace Pods, which a hold has prevented. */
  readonly release: () => Promise<void>;
  /** Returns the Pods as they are. */
  readonly pods: () => Promise<readonly ScenePod[]>;
  /** Returns the ready Pods when the mixed Pod is gone. */
  readonly replaced: () => Promise<readonly ScenePod[]>;
  /** Waits for an Event whose message contains the text. */
  readonly event: (reason: string, text: string) => Promise<AnyObject>;
  readonly events: (reason: string) => Promise<readonly AnyObject[]>;
  readonly remove: (pod: ScenePod) => Promise<void>;
}

/** Creates the scene. `prepare` changes it before the Pod is deleted, `pods` is the number of Pods. */
export async function mixedScene(
  cluster: Cluster,
  ns: string,
  pods: number,
  options: WorkloadOptions,
  prepare: (merge: (patch: object) => Promise<void>) => Promise<unknown> = async () => {},
): Promise<MixedScene> {
  const namespace = await makeNamespace(cluster, ns);
  const kind = options.kind ?? "Deployment";
  const path = workloadPath(ns, kind, "web");
  await namespace.create({ kind: "ConfigMap", metadata: { name: "page" }, data: { a: "good" } });
  await namespace.create(workload("web", byEnv, options));
  const all = async () => (await cluster.list(`/api/v1/namespaces/${ns}/pods`)) as unknown as readonly ScenePod[];
  const ready = () =>
    until("ready Pods of one revision", async () => {
      const { metadata, spec } = (await cluster.api("GET", path)) as unknown as AnyObject & {
        spec: { template: AnyObject };
      };
      const { annotations = {} } = spec.template.metadata;
      const isRecorded = hashName in annotations || `${prefix}recorded-config` in (metadata.annotations ?? {});
      const isReady = ({ metadata, status }: ScenePod) =>
        metadata.deletionTimestamp === undefined &&
        [hashName, `${prefix}rolled-at`].every((name) => metadata.annotations?.[name] === annotations[name]) &&
        status?.conditions?.some((each) => each.type === "Ready" && each.status === "True");
      const found = await all();
      return isRecorded && found.length === pods && found.every(isReady) ? found : undefined;
    });
  const remove = async ({ metadata }: ScenePod) => {
    await cluster.api("DELETE", `/api/v1/namespaces/${ns}/pods/${metadata.name}`);
  };
  const events = async (reason: string) =>
    (await cluster.list(`/api/v1/namespaces/${ns}/events`)).filter((event) => event.reason === reason);
  const event = (reason: string, text: string) =>
    until(`an Event ${reason}: ${text}`, async () =>
      (await events(reason)).find(({ message }) => `${message}`.includes(text)),
    );
  const hold = (value: string | null) =>
    namespace.merge(path, { metadata: { annotations: { "wave.pusher.com/hold": value } } });

  const before = await ready();
  const readyAt = Date.now();
  await until("the margin of clocks", async () => (Date.now() > readyAt + apartMs ? true : undefined));
  await hold("true");
  await namespace.edit("ConfigMap", "page", { a: "bad" });
  await event("RolloutHeld", "hold");
  await prepare((patch) => namespace.merge(path, patch));
  const [lost, ...kept] = before as readonly [ScenePod, ...ScenePod[]];
  await remove(lost);
  const isOld = ({ metadata }: ScenePod) => before.some((each) => each.metadata.uid === metadata.uid);
  const mixed = await until("the Pod that started in between", async () => (await ready()).find((pod) => !isOld(pod)));
  await namespace.edit("ConfigMap", "page", { a: "good" });
  await event("RolloutHeld", `1 of ${pods} ${pods === 1 ? "Pod" : "Pods"} may run configuration that was reverted`);
  const replaced = () =>
    until("a Pod instead of the mixed Pod", async () => {
      const found = await ready();
      return found.some(({ metadata }) => metadata.uid === mixed.metadata.uid) ? undefined : found;
    });
  return { kept, mixed, release: () => hold(null), pods: all, replaced, event, events, remove };
}
