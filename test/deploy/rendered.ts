import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { helm } from "../admission/admitted.ts";
import type { Cluster } from "../control-plane/cluster.ts";

/** The folder `deploy/`. */
export const deploy = join(import.meta.dirname, "../../deploy");

/** The chart that is installed. */
export const chart = join(deploy, "chart");

/** An object as it would be applied. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

/** The objects of a YAML stream, in an order of their own: by kind, namespace and name. */
export function manifestsIn(yaml: string): readonly Manifest[] {
  const key = ({ kind, metadata }: Manifest) => `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
  return parseAllDocuments(yaml)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null)
    .toSorted((a, b) => key(a).localeCompare(key(b)));
}

/** What `helm template` makes of the chart with these values (as for `--set`), for the release "wave" in wave-system. */
export async function rendered(cluster: Cluster, ...values: readonly string[]): Promise<readonly Manifest[]> {
  const set = values.flatMap((value) => ["--set", value]);
  // As old as is supported; without it helm takes a version of its own.
  const args = ["template", "wave", chart, "-n", "wave-system", "--kube-version", "1.30.0", ...set];
  return manifestsIn(await helm(cluster, args));
}
