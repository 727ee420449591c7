import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { type Cluster, connect } from "./cluster.ts";

/** A rule of a Role. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Creates a service account with these rules in its namespace and no other permissions. Resolves to its kubeconfig as JSON. */
export async function makeAccount(cluster: Cluster, namespace: string, name: string, rule: Rule): Promise<string> {
  const inIt = (...args: string[]) => cluster.kubectl(["-n", namespace, ...args]);
  await inIt("create", "serviceaccount", name);
  await cluster.api("POST", `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`, {
    metadata: { name },
    rules: [rule],
  });
  await inIt("create", "rolebinding", name, `--role=${name}`, `--serviceaccount=${namespace}:${name}`);
  const token = (await inIt("create", "token", name)).trim();
  const admin = parse(readFileSync(cluster.kubeconfig, "utf8"));
  return JSON.stringify({ ...admin, users: [{ name: "admin", user: { token } }] });
}

/** Returns a client of the cluster with the permissions of such an account. */
export async function accountOf(cluster: Cluster, namespace: string, name: string, rule: Rule): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), "wave-account-"));
  try {
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, await makeAccount(cluster, namespace, name, rule));
    return connect({ kubeconfig, auditLog: cluster.auditLog });
  } finally {
    await rm(folder, { recursive: true });
  }
}
