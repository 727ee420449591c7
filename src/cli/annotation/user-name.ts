import { ApiError } from "../../kube/api/errors.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { Cluster } from "../command/cluster-command.ts";

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
