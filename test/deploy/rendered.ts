import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { helm } from "../admission/admitted.ts";
import type { Cluster } from "../control-plane/cluster.ts";

/** The folder `deploy/`. */
export const deploy = join(import.meta.dirname, "../../deploy");

/** The folder of the chart that is installed. */
export const chart = join(deploy, "chart");

/** The API by which the chart decides whether a policy or the webhook points Pods at their pinned copies. */
export const policyApi = "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy";

/** An object of a manifest. */
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

/** A Deployment of Wave, with only the fields that tests read. */
export interface WaveDeployment extends Manifest {
  readonly spec: {
    readonly replicas: number;
    readonly strategy?: object;
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

/** Returns the objects of a YAML stream, sorted by kind, namespace and name. */
export function manifestsIn(yaml: string): readonly Manifest[] {
  const key = ({ kind, metadata }: Manifest) => `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
  return parseAllDocuments(yaml)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null)
    .toSorted((a, b) => key(a).localeCompare(key(b)));
}

/** Values: as for `--set`, or objects as in a values file. Later values override earlier ones. */
export type Values = readonly (string | object)[];

/** Renders the chart by `helm template` with these values, for the release "wave" in wave-system, without its test. */
export async function rendered(cluster: Cluster, ...values: Values): Promise<readonly Manifest[]> {
  return renderedAs("wave", cluster, ...values);
}

/** Renders the chart for a release with another name. */
export async function renderedAs(release: string, cluster: Cluster, ...values: Values): Promise<readonly Manifest[]> {
  const set = values.flatMap((value) =>
    typeof value === "string"
      ? ["--set", value]
      : Object.entries(value).flatMap(([key, each]) => ["--set-json", `${key}=${JSON.stringify(each)}`]),
  );
  // The oldest supported version. Without this flag helm assumes its own version.
  const args = ["template", release, chart, "-n", "wave-system", "--kube-version", "1.30.0", "--no-hooks", ...set];
  return manifestsIn(await helm(cluster, args));
}

/** Returns the objects of a kind. */
export function ofKind(kind: string, manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.filter((manifest) => manifest.kind === kind);
}

/** Returns the only object of a kind. Throws an Error if there is no object or more than one. */
export function only<M extends Manifest = Manifest>(kind: string, manifests: readonly Manifest[]): M {
  const [found, ...others] = ofKind(kind, manifests);
  if (found === undefined || others.length > 0)
    throw new Error(`there are ${others.length + (found ? 1 : 0)} ${kind}s`);
  return found as M;
}

/** Returns the Deployment of Wave among the objects. */
export function deploymentIn(manifests: readonly Manifest[]): WaveDeployment {
  return only("Deployment", manifests);
}
