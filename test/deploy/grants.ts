import type { AuditEvent } from "../control-plane/control-plane.ts";
import type { Manifest } from "./rendered.ts";

/** One thing that a role allows: a verb on the objects of a resource, in a namespace or in all, by name or all of them. */
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

/** Everything that the roles among these manifests allow. */
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

/** A grant in words, as a person would look for it. */
function wordsOf({ role, namespace, verb, ...what }: Grant): string {
  return `${role}: ${verb} ${objectsOf(what)} in ${namespace ?? "all namespaces"}`;
}

/** The objects that a grant is of: `secrets`, `leases.coordination.k8s.io/wave`. */
export function objectsOf({ group, resource, names }: Pick<Grant, "group" | "resource" | "names">): string {
  return `${resource}${group === "" ? "" : `.${group}`}${names === undefined ? "" : `/${names.join()}`}`;
}

/** What an account asked of the API server, compared with what it is allowed. */
export interface Comparison {
  /** What it was refused. */
  readonly forbidden: readonly string[];
  /** What it is allowed and did not do. */
  readonly unused: readonly string[];
}

/**
 * Compares the requests of a user with what it is granted. A request counts for the narrowest grant that allows it: one by
 * name before one of all objects, one of a namespace before one of all.
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

/** Several where two roles allow the same. */
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
    object.resource === resource &&
    (object.apiGroup ?? "") === group &&
    (namespace === undefined || object.namespace === namespace) &&
    (names === undefined || names.includes(object.name ?? ""))
  );
}
