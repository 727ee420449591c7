import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { type Cluster, connect } from "../control-plane/cluster.ts";
import { makeNamespace, type Namespace, namespaceAs } from "../end-to-end/objects.ts";

/** Somebody who may do in one namespace what teams may do in theirs, and nothing elsewhere. */
export interface Tenant {
  /** The cluster as the tenant may see it. */
  readonly cluster: Cluster;
  readonly namespace: Namespace;
}

/** Makes a namespace for a tenant with Kubernetes' own role `edit` in it, and no word about anything else. */
export async function makeTenant(cluster: Cluster, name: string): Promise<Tenant> {
  await makeNamespace(cluster, name);
  const inIt = (...args: string[]) => cluster.kubectl(["-n", name, ...args]);
  await inIt("create", "serviceaccount", "team");
  await inIt("create", "rolebinding", "team", "--clusterrole=edit", `--serviceaccount=${name}:team`);
  const token = (await inIt("create", "token", "team")).trim();
  const admin = parse(readFileSync(cluster.kubeconfig, "utf8"));
  const folder = await mkdtemp(join(tmpdir(), "wave-tenant-"));
  try {
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, JSON.stringify({ ...admin, users: [{ name: "admin", user: { token } }] }));
    const own = connect({ kubeconfig, auditLog: cluster.auditLog });
    return { cluster: own, namespace: namespaceAs(own, name) };
  } finally {
    await rm(folder, { recursive: true });
  }
}
