import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { type Cluster, connect } from "../control-plane/cluster.ts";
import { makeNamespace, type Namespace, namespaceAs } from "../end-to-end/objects.ts";

/** A user with the usual permissions of a team in one namespace, and none elsewhere. */
export interface Tenant {
  /** The cluster as the tenant sees it. */
  readonly cluster: Cluster;
  readonly namespace: Namespace;
}

/** Creates a namespace for a tenant with the Kubernetes role `edit` in it, and without any other permission. */
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
