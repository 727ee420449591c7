import type { AuditEvent } from "../control-plane/control-plane.ts";
import type { Manifest } from "./rendered.ts";

/** One permission of a role: a verb on the objects of a resource, in one namespace or in all, for one name or for all. */
interface Grant {
  readonly role: string;
  readonly namespace: string | undefined;
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly names: readonly string[] | undefined;
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Returns all permissions of the roles among these manifests. */
export function grantsOf(manifests: readonly Manifest[]): readonly Grant[] {
  const roles = manifests.filter(({ kind }) => kind === "Role" || kind === "ClusterRole");
  return roles.flatMap(({ metadata, rules }) =>
    (rules as readonly Rule[]).flatMap(({ apiGroups, resources, verbs, resourceNames: names }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.map((verb) => ({ role: metadata.name, namespace: metadata.namespace, group, resource, verb, names })),
        ),
      ),
    ),
  );
}

/** Describes a grant in words. */
function wordsOf({ role, namespace, verb, ...what }: Grant): string {
  return `${role}: ${verb} ${objectsOf(what)} in ${namespace ?? "all namespaces"}`;
}

/** Returns the objects of a grant, for example `secrets` or `leases.coordination.k8s.io/wave`. */
export function objectsOf({ group, resource, names }: Pick<Grant, "group" | "resource" | "names">): string {
  return `${resource}${group === "" ? "" : `.${group}`}${names === undefined ? "" : `/${names.join()}`}`;
}

/** The requests of an account, compared with its permissions. */
export interface Comparison {
  /** The forbidden requests. */
  readonly forbidden: readonly string[];
  /** The permissions without a request. */
  readonly unused: readonly string[];
}

/**
 * Compares the requests of a user with its grants. A request is assigned to the narrowest grant that permits it: a grant for a
 * name before a grant for all objects, a grant in one namespace before a grant in all.
 */
export function compareWithUse(events: readonly AuditEvent[], user: string, grants: readonly Grant[]): Comparison {
  const own = events.filter((event) => event.user.username === user);
  const refused = own.filter(({ responseStatus }) => responseStatus?.code === 403);
  const used = new Set(own.flatMap((event) => narrowest(grants.filter((grant) => allows(grant, event)))));
  return {
    forbidden: [...new Set(refused.map(({ verb, objectRef: o }) => `${verb} ${o?.resource} ${o?.namespace ?? ""}`))],
    unused: grants.filter((grant) => !used.has(grant)).map(wordsOf),
  };
}

/** Several grants if two roles permit the same. */
function narrowest(grants: readonly Grant[]): readonly Grant[] {
  const least = Math.min(...grants.map(width));
  return grants.filter((grant) => width(grant) === least);
}

function width({ names, namespace }: Grant): number {
  return (names === undefined ? 2 : 0) + (namespace === undefined ? 1 : 0);
}

function allows({ namespace, group, resource, verb, names }: Grant, event: AuditEvent): boolean {
  const { objectRef: object } = event;
  return (
    object !== undefined &&
    event.verb === verb &&
    [object.resource, object.subresource].filter(Boolean).join("/") === resource &&
    (object.apiGroup ?? "") === group &&
    (namespace === undefined || object.namespace === namespace) &&
    (names === undefined || names.includes(object.name ?? ""))
  );
}
