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
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** A Deployment of Wave, as far as tests look into it. */
export interface WaveDeployment extends Manifest {
  readonly spec: {
    readonly replicas: number;
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: {
      readonly metadata: Manifest["metadata"];
      readonly spec: {
        readonly containers: readonly [
          {
            readonly image: string;
            readonly args: readonly string[];
            readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
            readonly volumeMounts?: readonly object[];
            readonly [field: string]: unknown;
          },
        ];
        readonly [field: string]: unknown;
      };
    };
  };
}

/** The objects of a YAML stream, in an order of their own: by kind, namespace and name. */
export function manifestsIn(yaml: string): readonly Manifest[] {
  const key = ({ kind, metadata }: Manifest) => `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
  return parseAllDocuments(yaml)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null)
    .toSorted((a, b) => key(a).localeCompare(key(b)));
}

/** Values: as for `--set`, or objects as a values file has them, later ones winning. */
export type Values = readonly (string | object)[];

/** What `helm template` makes of the chart with these values, for the release "wave" in wave-system, without its test. */
export async function rendered(cluster: Cluster, ...values: Values): Promise<readonly Manifest[]> {
  return renderedAs("wave", cluster, ...values);
}

/** The same for a release of another name. */
export async function renderedAs(release: string, cluster: Cluster, ...values: Values): Promise<readonly Manifest[]> {
  const set = values.flatMap((value) =>
    typeof value === "string"
      ? ["--set", value]
      : Object.entries(value).flatMap(([key, each]) => ["--set-json", `${key}=${JSON.stringify(each)}`]),
  );
  // As old as is supported; without it helm takes a version of its own.
  const args = ["template", release, chart, "-n", "wave-system", "--kube-version", "1.30.0", "--skip-tests", ...set];
  return manifestsIn(await helm(cluster, args));
}

/** Those of a kind. */
export function ofKind(kind: string, manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.filter((manifest) => manifest.kind === kind);
}

/** The only one of a kind. Throws where there is none, or another. */
export function only<M extends Manifest = Manifest>(kind: string, manifests: readonly Manifest[]): M {
  const [found, ...others] = ofKind(kind, manifests);
  if (found === undefined || others.length > 0)
    throw new Error(`there are ${others.length + (found ? 1 : 0)} ${kind}s`);
  return found as M;
}

/** The Deployment of Wave among them. */
export function deploymentIn(manifests: readonly Manifest[]): WaveDeployment {
  return only("Deployment", manifests);
}
