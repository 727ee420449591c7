import type { PolicyAnnotation } from "../../domain/policy/policy-rows.ts";
import { annotationPrefix } from "../../domain/references/annotations.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { isNotFound } from "../../kube/api/errors.ts";
import { resourcePath } from "../../kube/api/resources.ts";
import type { Cluster } from "../cluster/cluster-command.ts";
import { nothingThere } from "../command/command-failure.ts";
import type { ObjectArgument } from "../command/workload-argument.ts";

/** An object that a command annotates. */
export interface Target extends ObjectArgument<string> {
  /** Where it is; of a Namespace the one where one would look else. */
  readonly namespace: string;
}

/**
 * Whose field the annotation is in managedFields. Not `wave`: the time of that manager tells when Wave rolled a workload. Not
 * kubectl's either, so that it can be seen where an annotation came from.
 */
const fieldManager = "wave-cli";

/**
 * Writes one annotation, or with null removes it, and nothing else: what others write meanwhile stays. Throws a CommandFailure
 * where there is no such object, else what the client throws.
 */
export async function annotate(
  cluster: Pick<Cluster, "client" | "source">,
  target: Target,
  annotation: PolicyAnnotation,
  value: string | null,
): Promise<void> {
  await patch(cluster, target, annotation, value, {});
}

/**
 * The time by the API server's clock, RFC 3339: a write that is only tried tells it. What is written into annotations is compared
 * with the times of that clock, and the one of this machine may be minutes off.
 */
export async function serverTime(cluster: Pick<Cluster, "client" | "source">, target: Target): Promise<string> {
  const here = new Date().toISOString();
  const { metadata } = await patch(cluster, target, "resumed", here, { dryRun: "All" });
  const written = metadata.managedFields?.find(({ manager }) => manager === fieldManager)?.time;
  return written ?? here.replace(/\.\d+Z$/, "Z");
}

async function patch(
  { client, source }: Pick<Cluster, "client" | "source">,
  { kind, resource, name, namespace }: Target,
  annotation: PolicyAnnotation,
  value: string | null,
  query: Readonly<Record<string, string>>,
): Promise<KubeObject> {
  const path = resourcePath(resource, resource.namespaced ? { namespace, name } : { name });
  const body = { metadata: { annotations: { [annotationPrefix + annotation]: value } } };
  try {
    return await client.request<KubeObject>({ method: "PATCH", path, query: { fieldManager, ...query }, body });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw nothingThere(kind, name, resource.namespaced ? namespace : undefined, source);
  }
}

/** How an object is called in what a command says: `deployment/web in shop`, `namespace/shop`. */
export function called({ kind, name, resource, namespace }: Target): string {
  return `${kind.toLowerCase()}/${name}${resource.namespaced ? ` in ${namespace}` : ""}`;
}

/** How an object is named to a command: `deployment/web -n shop`. */
export function argumentsFor({ kind, name, resource, namespace }: Target): string {
  return `${kind.toLowerCase()}/${name}${resource.namespaced ? ` -n ${namespace}` : ""}`;
}
