import type { PodSpec } from "#kubernetes";
import { type Config, toConfig } from "../../../src/domain/config/digest.ts";
import type { Lookup } from "../../../src/domain/config/view.ts";
import { type BuiltInKind, kinds } from "../../../src/domain/model/built-in-kinds.ts";
import { toWorkload, type Workload, type WorkloadObject } from "../../../src/domain/model/workload.ts";
import type { Policy } from "../../../src/domain/policy/policy.ts";
import { updateOnConfigChange } from "../../../src/domain/references/annotations.ts";
import { type ConfigKind, configKey } from "../../../src/domain/references/references.ts";

/** What a test wants of a workload beyond a plain opted-in Deployment "web" in namespace "default". */
export interface WorkloadFixture {
  readonly kind?: BuiltInKind;
  /** Beside the opt-in; undefined takes one away. */
  readonly annotations?: Readonly<Record<string, string | undefined>>;
  readonly templateAnnotations?: Readonly<Record<string, string>>;
  /** In place of what it has; undefined takes a field away. */
  readonly pod?: { readonly [Field in keyof PodSpec]?: PodSpec[Field] | undefined };
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** A workload as the API server would send it, for tests. */
export function workloadObject(wanted: WorkloadFixture = {}): WorkloadObject {
  const object = {
    apiVersion: "apps/v1",
    kind: wanted.kind ?? "Deployment",
    metadata: {
      namespace: "default",
      name: "web",
      uid: "11111111-1111-1111-1111-111111111111",
      generation: 3,
      annotations: { [updateOnConfigChange]: "true", ...wanted.annotations },
      ...wanted.metadata,
    },
    spec: {
      ...wanted.spec,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" }, annotations: wanted.templateAnnotations },
        spec: { schedulerName: "default-scheduler", containers: [{ name: "web" }], ...wanted.pod },
      },
    },
    status: wanted.status,
  };
  // As it comes over the wire: without what is undefined.
  return JSON.parse(JSON.stringify(object));
}

/** The slim form of {@link workloadObject}. */
export function workload(wanted: WorkloadFixture = {}): Workload {
  return toWorkload(kinds[wanted.kind ?? "Deployment"], workloadObject(wanted));
}

/** A pod spec whose one container reads one object wholly into its environment. */
export function readsAll(kind: ConfigKind, name: string, optional = false): Partial<PodSpec> {
  const source = { name, optional };
  return {
    containers: [{ name: "web", envFrom: [kind === "Secret" ? { secretRef: source } : { configMapRef: source }] }],
  };
}

/** A ConfigMap of namespace "default", for tests. */
export function configMap(name: string, data: Record<string, string>, metadata: Record<string, unknown> = {}): Config {
  return toConfig("ConfigMap", { metadata: { namespace: "default", name, ...metadata }, data });
}

/** A Secret of namespace "default" whose values are given as text, for tests. */
export function secret(name: string, text: Record<string, string>, metadata: Record<string, unknown> = {}): Config {
  const encoded = Object.entries(text).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  return toConfig("Secret", {
    metadata: { namespace: "default", name, ...metadata },
    data: Object.fromEntries(encoded),
  });
}

/** Finds these objects and no others. */
export function lookupOf(...configs: readonly Config[]): Lookup {
  const byKey = new Map(configs.map((config) => [configKey(config), config]));
  return (kind, namespace, name) => byKey.get(configKey({ kind, namespace, name }));
}

/** What Wave does unless it is told otherwise. */
export const defaultPolicy: Policy = { crossNamespace: "granted", namespaces: undefined, schedulingHold: true };
