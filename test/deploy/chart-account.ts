import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import type { Cluster } from "../control-plane/cluster.ts";
import { readAuditLog } from "../control-plane/control-plane.ts";
import { compareWithUse } from "./grants.ts";
import { type Manifest, renderedAs, type Values } from "./rendered.ts";

/** Who Wave is where the chart is installed: its service account, with the chart's roles and nothing else. */
export interface ChartAccount {
  /** A kubeconfig of its own, for `--kubeconfig`. */
  readonly kubeconfig: string;
  /** What it was refused so far, as far as the audit log is written. */
  readonly forbidden: () => readonly string[];
  /** Removes the kubeconfig. */
  readonly remove: () => Promise<void>;
}

const kinds = ["ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"];

/** The account and the roles that the chart has for a release with these values, in the namespace of the release's name. */
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

/** Makes the chart's account in the namespace `release`, which exists as those of the value `namespaces` do. */
export async function chartAccount(cluster: Cluster, release: string, ...values: Values): Promise<ChartAccount> {
  await apply(cluster, await permissionsOf(cluster, release, ...values));
  return accountOf(cluster, release);
}

/** The service account that is named like its namespace, where it is there already. */
export async function accountOf(cluster: Cluster, name: string): Promise<ChartAccount> {
  const token = (await cluster.kubectl(["-n", name, "create", "token", name])).trim();
  const admin = parse(readFileSync(cluster.kubeconfig, "utf8"));
  const folder = await mkdtemp(join(tmpdir(), "wave-account-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, JSON.stringify({ ...admin, users: [{ name: "admin", user: { token } }] }));
  const user = `system:serviceaccount:${name}:${name}`;
  return {
    kubeconfig,
    forbidden: () => compareWithUse(readAuditLog(cluster.auditLog), user, []).forbidden,
    remove: () => rm(folder, { recursive: true }),
  };
}
