import { type Resource, resources } from "../kube/resources.ts";
import { isDnsSubdomain } from "../rollout/dns-name.ts";
import { quoted } from "../rollout/wording.ts";
import type { WorkloadKind } from "../rollout/workload.ts";
import { UsageError } from "./usage-error.ts";

/** Which workload a person means, but for its namespace. */
export interface WorkloadArgument {
  readonly kind: WorkloadKind;
  readonly resource: Resource;
  readonly name: string;
}

/** By what names `kubectl` knows each kind (`kubectl api-resources`). */
const rows: readonly { readonly kind: WorkloadKind; readonly resource: Resource; readonly names: readonly string[] }[] =
  [
    { kind: "Deployment", resource: resources.deployments, names: ["deploy", "deployment", "deployments"] },
    { kind: "StatefulSet", resource: resources.statefulSets, names: ["sts", "statefulset", "statefulsets"] },
    { kind: "DaemonSet", resource: resources.daemonSets, names: ["ds", "daemonset", "daemonsets"] },
  ];

/**
 * The workload that `deploy/web`, `deployments.apps/web` or `deployment web` names: as `kubectl` reads it, in any case.
 * Throws a UsageError of one line that says what to write.
 */
export function parseWorkloadArgument(positionals: readonly string[]): WorkloadArgument {
  const [first, second, ...rest] = positionals;
  if (first === undefined) throw new UsageError("name a workload, such as deployment/web");
  const slash = first.indexOf("/");
  const [kindName, name] = slash === -1 ? [first, second] : [first.slice(0, slash), first.slice(slash + 1)];
  const surplus = slash === -1 ? rest[0] : second;
  if (surplus !== undefined) throw new UsageError(`name one workload; ${quoted(surplus)} is one more`);
  const row = rows.find(({ names }) => names.includes(withoutGroup(kindName.toLowerCase())));
  if (row === undefined) throw unknownKind(kindName, name);
  if (name === undefined || name === "")
    throw new UsageError(`name one ${row.kind}, such as ${row.kind.toLowerCase()}/web`);
  if (!isDnsSubdomain(name)) throw new UsageError(`${quoted(name)} is not a name that a ${row.kind} can have`);
  return { kind: row.kind, resource: row.resource, name };
}

/** `deployments.apps` and `deployments.v1.apps` are `deployments`; those of another group are not. */
function withoutGroup(name: string): string {
  return name.replace(/\.(v1\.)?apps$/, "");
}

function unknownKind(kind: string, name: string | undefined): UsageError {
  if (name === undefined && isDnsSubdomain(kind))
    return new UsageError(`${quoted(kind)}: say of which kind it is, such as deployment/${kind}`);
  return new UsageError(`Wave rolls no ${quoted(kind)}, only a deployment, statefulset or daemonset`);
}
