// The commands hold, release, approve, resume and roll write one annotation each. This folder has what they share.
import type { PolicyAnnotation } from "../../domain/policy/policy-rows.ts";
import { annotationPrefix } from "../../domain/references/annotations.ts";
import { formatList } from "../../domain/syntax/names.ts";
import { ApiError, isNotFound } from "../../kube/api/api-failure.ts";
import { type KubeObject, resourcePath, resources } from "../../kube/api/resources.ts";
import { getIfExists } from "../../kube/reads/reads.ts";
import type { Cluster } from "../command/cluster-command.ts";
import { CommandFailure, commandErrorTexts, exitCodes, objectNotFound, reportFailure } from "../command/command.ts";
import { commandArguments, type NamedObject, objectName } from "../command/workload-argument.ts";

/** The field manager of these writes. Not `wave`, whose time is that of the last rollout; not kubectl, so that the origin shows. */
const fieldManager = "wave-cli";

/** The annotations that the commands write: those of people, the hold of every rollout, and the content that was rolled back, which `wave resume` removes. */
type WrittenAnnotation = PolicyAnnotation | "hold-cluster" | "rejected-configmaps";

/** A cluster, and the names of the objects that the command has written. */
export interface AnnotationWriter extends Pick<Cluster, "client" | "source"> {
  readonly written: Set<string>;
}

/** The annotations of one write; null removes one. */
type WrittenAnnotations = Readonly<Partial<Record<WrittenAnnotation, string | null>>>;

/** Writes annotations of one object and nothing else. Throws a CommandFailure if it does not exist; otherwise what the client throws. */
export async function annotate(
  cluster: AnnotationWriter,
  target: NamedObject,
  annotations: WrittenAnnotations,
): Promise<void> {
  await patch(cluster, target, annotations, {});
  cluster.written.add(objectName(target));
}

/** How many names an error has. */
const mostNamed = 5;

/** Calls `write`, which may annotate several objects. After the first write, an error becomes a CommandFailure with what is written. */
export async function namingWrites(
  cluster: Cluster,
  write: (writer: Cluster & AnnotationWriter) => Promise<void>,
): Promise<void> {
  const written = new Set<string>();
  try {
    await write({ ...cluster, written });
  } catch (error) {
    const failure = written.size === 0 ? undefined : reportFailure(error, cluster);
    if (failure === undefined) throw error;
    const names = formatList([...written], mostNamed, String);
    const line = failure.line.endsWith(".") ? failure.line : `${failure.line}.`;
    throw new CommandFailure(`${line} ${commandErrorTexts.partlyWritten(names)}`, exitCodes.incomplete);
  }
}

/** Returns an annotation; undefined without it. Throws a CommandFailure if the object does not exist; otherwise what the client throws. */
export async function readAnnotation(
  { client, source }: Pick<Cluster, "client" | "source">,
  target: NamedObject,
  annotation: WrittenAnnotation,
): Promise<string | undefined> {
  const object = await getIfExists<KubeObject>(client, { path: pathOf(target) });
  if (object === undefined) throw notFound(target, source);
  return object.metadata.annotations?.[annotationPrefix + annotation];
}

/** Returns the API server's time as RFC 3339, from a dry-run write: this machine's clock may be minutes off. */
export async function serverTime(cluster: Pick<Cluster, "client" | "source">, target: NamedObject): Promise<string> {
  const here = new Date().toISOString();
  const { metadata } = await patch(cluster, target, { resumed: here }, { dryRun: "All" });
  const written = metadata.managedFields?.find(({ manager }) => manager === fieldManager)?.time;
  return written ?? here.replace(/\.\d+Z$/, "Z");
}

async function patch(
  { client, source }: Pick<Cluster, "client" | "source">,
  target: NamedObject,
  annotations: WrittenAnnotations,
  query: Readonly<Record<string, string>>,
): Promise<KubeObject> {
  const named = Object.entries(annotations).map(([name, value]) => [annotationPrefix + name, value]);
  const body = { metadata: { annotations: Object.fromEntries(named) } };
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

/** Maximum characters of a name. A token of a cloud may contain a whole path. */
const maxLength = 120;

/** The part of a SelfSubjectReview that is read. Kubernetes has this API since version 1.28. */
interface SelfSubjectReview {
  readonly status?: { readonly userInfo?: { readonly username?: string } };
}

/** Returns the text of a hold: the reason, and the name of the user in parentheses; "" if both are unknown. */
export async function signedReason(cluster: Pick<Cluster, "client">, reason: string | undefined): Promise<string> {
  const user = await readUserName(cluster);
  const parts = [reason?.replace(/\s+/g, " ").trim() ?? "", user === undefined ? "" : `(${user})`];
  return parts.filter((part) => part !== "").join(" ");
}

/** Returns the name by which the API server knows the user, on one line; undefined if that is unknown. */
export async function readUserName({ client }: Pick<Cluster, "client">): Promise<string | undefined> {
  const path = resourcePath(resources.selfSubjectReviews);
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  try {
    const { status } = await client.request<SelfSubjectReview>({ method: "POST", path, body });
    const name = status?.userInfo?.username?.replace(/\s+/g, " ").trim().slice(0, maxLength);
    return name || undefined;
  } catch (error) {
    // The name is for people only. An older API server, or a missing permission, must not prevent the request.
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
