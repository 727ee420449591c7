import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import type { Cluster } from "../control-plane/cluster.ts";
import { readAuditLog } from "../control-plane/control-plane.ts";
import { compareWithUse } from "./grants.ts";
import { type Manifest, renderedAs, type Values } from "./rendered.ts";

/** The account of Wave in an installed chart: its service account, with only the roles of the chart. */
export interface ChartAccount {
  /** The path of its kubeconfig, for `--kubeconfig`. */
  readonly kubeconfig: string;
  /** The folder of its files `token` and `authority`, as in a Pod. */
  readonly folder: string;
  /** Returns the requests that were forbidden so far, according to the audit log. */
  readonly forbidden: () => readonly string[];
  /** Removes the kubeconfig. */
  readonly remove: () => Promise<void>;
}

const kinds = ["ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"];

/** Renders the account and the roles of the chart for a release with these values, in the namespace with the name of the release. */
export async function permissionsOf(
  cluster: Cluster,
  release: string,
  ...values: Values
): Promise<readonly Manifest[]> {
  const manifests = await renderedAs(release, cluster, ...values);
  const text = JSON.stringify(manifests.filter(({ kind }) => kinds.includes(kind)));
  return JSON.parse(text.replaceAll('"wave-system"', `"${release}"`));
}

/** Applies manifests as they are. */
export async function apply(cluster: Cluster, manifests: readonly Manifest[]): Promise<void> {
  await cluster.kubectl(["apply", "-f", "-"], manifests.map((manifest) => JSON.stringify(manifest)).join("\n---\n"));
}

/** Creates the account of the chart in the namespace `release`. This namespace and those of the value `namespaces` must exist. */
export async function chartAccount(cluster: Cluster, release: string, ...values: Values): Promise<ChartAccount> {
  await apply(cluster, await permissionsOf(cluster, release, ...values));
  return accountOf(cluster, release);
}

/** Returns an existing service account, by default the one with the name of its namespace. */
export async function accountOf(cluster: Cluster, namespace: string, name = namespace): Promise<ChartAccount> {
  const token = (await cluster.kubectl(["-n", namespace, "create", "token", name])).trim();
  const admin = parse(readFileSync(cluster.kubeconfig, "utf8"));
  const folder = await mkdtemp(join(tmpdir(), "wave-account-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, JSON.stringify({ ...admin, users: [{ name: "admin", user: { token } }] }));
  await writeFile(join(folder, "token"), token);
  const authority = admin.clusters[0].cluster["certificate-authority-data"];
  await writeFile(join(folder, "authority"), Buffer.from(authority, "base64"));
  const user = `system:serviceaccount:${namespace}:${name}`;
  return {
    kubeconfig,
    folder,
    forbidden: () => compareWithUse(readAuditLog(cluster.auditLog), user, []).forbidden,
    remove: () => rm(folder, { recursive: true }),
  };
}
