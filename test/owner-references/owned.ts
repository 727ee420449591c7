import type { Cluster } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";
import { type WorkloadKind, workloadPath } from "../end-to-end/objects.ts";

/** The form of an owner that tests compare: `Deployment/web`. */
interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

interface Owned {
  readonly metadata: {
    readonly uid: string;
    readonly ownerReferences?: readonly Owner[];
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
  };
}

/** The annotations and finalizers that Wave in Go wrote on workloads. */
export const finalizer = "wave.pusher.com/finalizer";

/** Functions of a test about owners in one namespace. */
export function ownedIn(cluster: Cluster, namespace: string) {
  const core = (resource: string) => `/api/v1/namespaces/${namespace}/${resource}`;
  const get = (path: string) =>
    cluster.api<Owned>("GET", path).catch((error: Error) => {
      if (error.message.includes(": 404 ")) return undefined;
      throw error;
    });

  const owned = {
    /** Returns the owners of `configmaps/a`; undefined if the object does not exist. */
    async owners(resource: string): Promise<readonly Owner[] | undefined> {
      const object = await get(core(resource));
      return object && (object.metadata.ownerReferences ?? []);
    },
    /** Returns the owners of an object as a sorted list such as `Deployment/web`. */
    async owned(resource: string): Promise<readonly string[] | undefined> {
      return (await owned.owners(resource))?.map(({ kind, name }) => `${kind}/${name}`).sort();
    },
    /** Waits until an object has exactly these owners. */
    untilOwned(resource: string, ...owners: readonly string[]): Promise<boolean> {
      const wanted = [...owners].sort().join();
      return until(`${resource} to be owned by ${wanted || "no owner"}`, async () => {
        const found = await owned.owned(resource);
        if (found?.join() === wanted) return true;
        throw new Error(found?.join());
      });
    },
    workload: (kind: WorkloadKind, name: string) => get(workloadPath(namespace, kind, name)),
    async finalizers(kind: WorkloadKind, name: string): Promise<readonly string[] | undefined> {
      const object = await owned.workload(kind, name);
      return object && (object.metadata.finalizers ?? []);
    },
    untilFinalizers(kind: WorkloadKind, name: string, ...finalizers: readonly string[]): Promise<boolean> {
      return until(`${kind} ${name} to have the finalizers ${finalizers.join()}`, async () =>
        (await owned.finalizers(kind, name))?.join() === finalizers.join() ? true : undefined,
      );
    },
    untilGone(kind: WorkloadKind, name: string): Promise<boolean> {
      return until(`${kind} ${name} to be gone`, async () =>
        (await owned.workload(kind, name)) === undefined ? true : undefined,
      );
    },
    async delete(kind: WorkloadKind, name: string, propagationPolicy: string): Promise<void> {
      await cluster.api("DELETE", `${workloadPath(namespace, kind, name)}?propagationPolicy=${propagationPolicy}`);
    },
    /**
     * Creates a ConfigMap whose only owner is a workload. When it is gone, the garbage collector has processed the objects
     * that belong to the workload.
     */
    async witness(kind: WorkloadKind, name: string): Promise<() => Promise<boolean>> {
      const uid = (await owned.workload(kind, name))?.metadata.uid;
      const owner = { apiVersion: "apps/v1", kind, name, uid, controller: true };
      const metadata = { name: `witness-${name}`, ownerReferences: [owner] };
      await cluster.api("POST", core("configmaps"), { metadata });
      return () =>
        until(`${metadata.name} to be collected`, async () =>
          (await get(core(`configmaps/${metadata.name}`))) === undefined ? true : undefined,
        );
    },
    /** Puts owner references on an object, as another client than Wave. */
    own: (resource: string, ownerReferences: readonly unknown[]) =>
      cluster.api("PATCH", core(resource), { metadata: { ownerReferences } }, "application/merge-patch+json"),
    /** Puts finalizers on a workload, as another client than Wave. */
    finalize: (kind: WorkloadKind, name: string, finalizers: readonly string[]) =>
      cluster.api(
        "PATCH",
        workloadPath(namespace, kind, name),
        { metadata: { finalizers } },
        "application/merge-patch+json",
      ),
  };
  return owned;
}
