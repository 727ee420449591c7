import { configKey, type Reference } from "../../../domain/references/references.ts";
import { fieldsOf, textOf } from "../../../domain/syntax/json.ts";
import { formatCount } from "../../../domain/syntax/names.ts";
import type { KubeObject, Resource } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { findResource } from "../../../kube/reads/reads.ts";
import { presentOf } from "../../cluster/read/configs.ts";
import { listAll, tryRead } from "../../cluster/requests.ts";
import type { WorkloadSnapshot } from "../../cluster/snapshot/workload-snapshot.ts";
import { type Finding, type ObjectRef, warning } from "../context/finding.ts";

const newName = "Store new content under a new name. Pinned configuration does this for ConfigMaps: wave help pinning";

/**
 * Finds immutable objects that are newer than Pods that read them: someone deleted an object and created it again. A node does not watch
 * immutable objects. As long as a Pod on the node uses the object, new Pods on this node may read the old content
 * (https://github.com/kubernetes/kubernetes/issues/119733).
 */
export function recreatedObjectFindings(snapshots: readonly WorkloadSnapshot[]): readonly Finding[] {
  const found = new Map<string, { readonly where: ObjectRef; pods: number }>();
  for (const snapshot of snapshots) {
    const { workload } = snapshot.found;
    for (const reference of workload.references) {
      const pods = olderPods(snapshot, reference);
      if (pods === 0) continue;
      const key = configKey(reference);
      const entry = found.get(key) ?? { where: reference, pods: 0 };
      entry.pods += pods;
      found.set(key, entry);
    }
  }
  return Array.from(found.values(), ({ where, pods }) => {
    const older = pods === 1 ? "1 Pod that reads it is" : `${formatCount(pods)} Pods that read it are`;
    const what = `This immutable object was deleted and created again: ${older} older. New Pods on the same node may read the old content.`;
    return warning(where, what, newName);
  });
}

/** Counts the Pods that could only start with an earlier object of this name: Wave writes no hash while a required object is missing. */
function olderPods({ found, read, pods }: WorkloadSnapshot, reference: Reference): number {
  const since = presentOf(read.get(configKey(reference)))?.immutableSince;
  if (since === undefined || reference.optional || reference.annotation !== undefined || pods.state !== "read")
    return 0;
  const key = configKey(reference);
  return pods
    .of(found.workload)
    .filter(
      ({ hash, startedAt, files, env }) =>
        hash !== undefined && 0 < startedAt && startedAt < since && (files.has(key) || env.has(key)),
    ).length;
}

/** Returns the object that makes a Secret; undefined if none does, and "unknown" if that cannot be read. */
export type SecretMaker = (namespace: string, secret: string) => Maker | "unknown" | undefined;

/** The object that makes a Secret, with the resource by which kubectl finds it. */
interface Maker {
  readonly resource: string;
  readonly name: string;
}

/** The specs may have any content: they are checked by other programs. */
const specOf = (object: KubeObject) => fieldsOf((object as { readonly spec?: unknown }).spec);

/** The kinds whose objects make Secrets, with the names of these Secrets. */
const rows = [
  {
    // https://external-secrets.io/latest/api/externalsecret/
    group: "external-secrets.io",
    plural: "externalsecrets",
    secretsOf: (object: KubeObject) => [textOf(fieldsOf(specOf(object).target).name) || object.metadata.name],
  },
  {
    // https://secrets-store-csi-driver.sigs.k8s.io/topics/sync-as-kubernetes-secret
    group: "secrets-store.csi.x-k8s.io",
    plural: "secretproviderclasses",
    secretsOf: (object: KubeObject) => {
      const { secretObjects } = specOf(object);
      const all: readonly unknown[] = Array.isArray(secretObjects) ? secretObjects : [];
      return all.map((each) => textOf(fieldsOf(each).secretName));
    },
  },
] as const;

/** Reads what makes the Secrets of some namespaces: a person who creates such a Secret by hand would hide the real problem. Never rejects. */
export async function readSecretMakers(client: ApiClient, namespaces: Iterable<string>): Promise<SecretMaker> {
  const makers = new Map<string, Maker>();
  const unknown = new Set<string>();
  const wanted = new Set(namespaces);
  for (const { group, plural, secretsOf } of wanted.size === 0 ? [] : rows) {
    const found = await tryRead("find what makes Secrets", async () => {
      const served = await findResource(client, { group, version: undefined, plural });
      return served && { ...served, plural };
    });
    for (const namespace of wanted) {
      const list = async (served: Resource | undefined) =>
        served && listAll(client, served, { namespace }, (object: KubeObject) => object);
      const read = "unread" in found ? found : await tryRead("list what makes Secrets", () => list(found.read));
      if ("unread" in read) unknown.add(namespace);
      else
        for (const object of read.read ?? [])
          for (const secret of secretsOf(object))
            makers.set(`${namespace}/${secret}`, { resource: `${plural}.${group}`, name: object.metadata.name });
    }
  }
  return (namespace, secret) =>
    makers.get(`${namespace}/${secret}`) ?? (unknown.has(namespace) ? "unknown" : undefined);
}
