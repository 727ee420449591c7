import type { ObjectArgument } from "./workload-argument.ts";

/** An object of the cluster that a command names. */
export interface NamedObject extends ObjectArgument<string> {
  /** The namespace of the object; for a Namespace, the namespace of the context or of -n. */
  readonly namespace: string;
}

/** Returns the name of an object: `deployment/web`. */
export function objectName({ kind, name }: Pick<NamedObject, "kind" | "name">): string {
  return `${kind.toLowerCase()}/${name}`;
}

/** Compares objects by namespace, kind and name, for sorting. */
export function byObjectName(a: Named, b: Named): number {
  const [first = "", second = ""] = [a, b].map(({ namespace, kind, name }) => [namespace, kind, name].join(" "));
  return first < second ? -1 : 1;
}

type Named = Pick<NamedObject, "namespace" | "kind" | "name">;

/** Returns the name of an object with its namespace: `deployment/web in namespace shop`, `namespace/shop`. */
export function qualifiedName({ kind, name, resource, namespace }: NamedObject): string {
  return `${objectName({ kind, name })}${resource.namespaced ? ` in namespace ${namespace}` : ""}`;
}

/** Returns the arguments that name an object on a command line: `deployment/web -n shop`. */
export function commandArguments({ kind, name, resource, namespace }: NamedObject): string {
  return `${objectName({ kind, name })}${resource.namespaced ? ` -n ${namespace}` : ""}`;
}
