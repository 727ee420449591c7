import type { Resource } from "./resources.ts";

/** The objects of a permission. */
interface GrantScope {
  readonly resource: Pick<Resource, "apiVersion" | "plural" | "namespaced">;
  /** Undefined: all namespaces, or a resource without namespaces. */
  readonly namespace?: string | undefined;
  /** Undefined: all objects. */
  readonly name?: string | undefined;
}

/**
 * Returns the advice to grant verbs, such as "get and list", with the kind of role that can: "Grant get and list on secrets in namespace shop
 * with a Role", "Grant patch on namespaces with a ClusterRole (resourceNames: shop)".
 */
export function grantText(verbs: string, scope: GrantScope): string {
  const { resource, namespace, name } = scope;
  const where =
    namespace !== undefined ? ` in namespace ${namespace}` : resource.namespaced ? " in all namespaces" : "";
  const names = name === undefined ? "" : ` (resourceNames: ${name})`;
  return `Grant ${verbs} on ${rbacName(resource)}${where} with a ${roleKind(namespace)}${names}`;
}

/** Returns the kind of role that can allow something in a namespace; undefined: in all of them, or for objects without a namespace. */
export function roleKind(namespace: string | undefined): "Role" | "ClusterRole" {
  return namespace === undefined ? "ClusterRole" : "Role";
}

/** Returns the name of a resource in RBAC rules, with its group if it has one: `deployments.apps`. */
function rbacName({ apiVersion, plural }: GrantScope["resource"]): string {
  const [group, version] = apiVersion.split("/");
  return version === undefined ? plural : `${plural}.${group}`;
}
