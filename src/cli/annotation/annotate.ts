// The commands hold, release, approve, resume and roll write one annotation each. This folder has what they share.
import type { PolicyAnnotation } from "../../domain/policy/policy-rows.ts";
import { annotationPrefix } from "../../domain/references/annotations.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { isNotFound } from "../../kube/api/errors.ts";
import { resourcePath } from "../../kube/api/resources.ts";
import { getIfExists } from "../../kube/reads/get-if-exists.ts";
import type { Cluster } from "../command/cluster-command.ts";
import { type CommandFailure, objectNotFound } from "../command/command-failure.ts";
import { commandArguments, type NamedObject } from "../command/named-object.ts";

/**
 * The field manager of these writes. It is not `wave`: the time of that manager is the time of the last rollout. It is not a
 * manager of kubectl, so that people can see where an annotation came from.
 */
const fieldManager = "wave-cli";

/** The annotations that the commands write: those of people, the hold of every rollout, and the content that was rolled back, which `wave resume` removes. */
type WrittenAnnotation = PolicyAnnotation | "hold-cluster" | "rejected-configmaps";

/**
 * Writes one annotation, or removes it with null, and changes nothing else.
 * @throws CommandFailure if the object does not exist; otherwise whatever the client throws.
 */
export async function annotate(
  cluster: Pick<Cluster, "client" | "source">,
  target: NamedObject,
  annotation: WrittenAnnotation,
  value: string | null,
): Promise<void> {
  await patch(cluster, target, annotation, value, {});
}

/**
 * Returns the current value of an annotation; undefined if the object does not have it.
 * @throws CommandFailure if the object does not exist; otherwise whatever the client throws.
 */
export async function readAnnotation(
  { client, source }: Pick<Cluster, "client" | "source">,
  target: NamedObject,
  annotation: WrittenAnnotation,
): Promise<string | undefined> {
  const object = await getIfExists<KubeObject>(client, { path: pathOf(target) });
  if (object === undefined) throw notFound(target, source);
  return object.metadata.annotations?.[annotationPrefix + annotation];
}

/**
 * Returns the time of the API server as RFC 3339, from a dry-run write. Wave compares times in annotations with times of the API
 * server, and the clock of this machine may be minutes off.
 */
export async function serverTime(cluster: Pick<Cluster, "client" | "source">, target: NamedObject): Promise<string> {
  const here = new Date().toISOString();
  const { metadata } = await patch(cluster, target, "resumed", here, { dryRun: "All" });
  const written = metadata.managedFields?.find(({ manager }) => manager === fieldManager)?.time;
  return written ?? here.replace(/\.\d+Z$/, "Z");
}

async function patch(
  { client, source }: Pick<Cluster, "client" | "source">,
  target: NamedObject,
  annotation: WrittenAnnotation,
  value: string | null,
  query: Readonly<Record<string, string>>,
): Promise<KubeObject> {
  const body = { metadata: { annotations: { [annotationPrefix + annotation]: value } } };
  try {
    return await client.request<KubeObject>({
      method: "PATCH",
      path: pathOf(target),
      query: { fieldManager, ...query },
      body,
    });
  } catch (error) {
    throw isNotFound(error) ? notFound(target, source) : error;
  }
}

function pathOf({ resource, name, namespace }: NamedObject): string {
  return resourcePath(resource, resource.namespaced ? { namespace, name } : { name });
}

function notFound({ kind, resource, name, namespace }: NamedObject, source: Cluster["source"]): CommandFailure {
  return objectNotFound(kind, name, resource.namespaced ? namespace : undefined, source);
}

/** Returns the command that removes an annotation of Wave from an object. */
export function removeCommand(target: NamedObject, annotation: PolicyAnnotation): string {
  return `kubectl annotate ${commandArguments(target)} ${annotationPrefix}${annotation}-`;
}
