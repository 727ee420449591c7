import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { type Cluster, connect } from "../control-plane/cluster.ts";

/** A rule of a Role. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** The cluster as a new service account sees it that may do so much in its namespace, and nothing elsewhere. */
export async function accountOf(cluster: Cluster, namespace: string, name: string, rule: Rule): Promise<Cluster> {
  const inIt = (...args: string[]) => cluster.kubectl(["-n", namespace, ...args]);
  await inIt("create", "serviceaccount", name);
  await cluster.api("POST", `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`, {
    metadata: { name },
    rules: [rule],
  });
  await inIt("create", "rolebinding", name, `--role=${name}`, `--serviceaccount=${namespace}:${name}`);
  const token = (await inIt("create", "token", name)).trim();
  const admin = parse(readFileSync(cluster.kubeconfig, "utf8"));
  const folder = await mkdtemp(join(tmpdir(), "wave-account-"));
  try {
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, JSON.stringify({ ...admin, users: [{ name: "admin", user: { token } }] }));
    return connect({ kubeconfig, auditLog: cluster.auditLog });
  } finally {
    await rm(folder, { recursive: true });
  }
}
