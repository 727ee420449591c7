import type { PodSpec } from "#kubernetes";
import { type Config, toConfig } from "../../../src/domain/config/digest.ts";
import type { Lookup } from "../../../src/domain/config/view-of-references.ts";
import { type BuiltInKind, kinds } from "../../../src/domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../../src/domain/model/workload.ts";
import type { WorkloadObject } from "../../../src/domain/model/workload-references.ts";
import type { Workload } from "../../../src/domain/model/workload-shape.ts";
import type { PacingFlags, Policy } from "../../../src/domain/policy/policy.ts";
import { pinnedCopyLabel, updateOnConfigChange } from "../../../src/domain/references/annotations.ts";
import { type ConfigKind, configKey } from "../../../src/domain/references/references.ts";

// test/support/domain: fixtures of the domain. May import the domain only.

/** How a test workload differs from a plain opted-in Deployment "web" in namespace "default". */
export interface WorkloadFixture {
  readonly kind?: BuiltInKind;
  /** Annotations in addition to the opt-in; undefined removes an annotation. */
  readonly annotations?: Readonly<Record<string, string | undefined>>;
  readonly templateAnnotations?: Readonly<Record<string, string>>;
  /** Fields of the pod spec that replace the defaults; undefined removes a field. */
  readonly pod?: { readonly [Field in keyof PodSpec]?: PodSpec[Field] | undefined };
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** Returns a workload in the form that the API server sends, for tests. */
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
  // JSON removes undefined fields, as on the wire.
  return JSON.parse(JSON.stringify(object));
}

/** Returns the slim form of {@link workloadObject}. */
export function workload(wanted: WorkloadFixture = {}): Workload {
  return toWorkload(kinds[wanted.kind ?? "Deployment"], workloadObject(wanted));
}

/** Returns a pod spec with one container that reads a whole object into its environment. */
export function readsAll(kind: ConfigKind, name: string, optional = false): Partial<PodSpec> {
  const source = { name, optional };
  return {
    containers: [{ name: "web", envFrom: [kind === "Secret" ? { secretRef: source } : { configMapRef: source }] }],
  };
}

/** Returns a ConfigMap in namespace "default", for tests. */
export function configMap(name: string, data: Record<string, string>, metadata: Record<string, unknown> = {}): Config {
  return toConfig("ConfigMap", { metadata: { namespace: "default", name, ...metadata }, data });
}

/** Returns a pinned copy in namespace "default", for tests. */
export function pinnedCopy(name: string, data: Record<string, string>): Config {
  const metadata = { namespace: "default", name, labels: { [pinnedCopyLabel]: "true" } };
  return toConfig("ConfigMap", { metadata, immutable: true, data });
}

/** Returns a Secret in namespace "default" with values from text, for tests. */
export function secret(name: string, text: Record<string, string>, metadata: Record<string, unknown> = {}): Config {
  const encoded = Object.entries(text).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  return toConfig("Secret", {
    metadata: { namespace: "default", name, ...metadata },
    data: Object.fromEntries(encoded),
  });
}

/** Returns a lookup that finds only these objects. */
export function lookupOf(...configs: readonly Config[]): Lookup {
  const byKey = new Map(configs.map((config) => [configKey(config), config]));
  return (kind, namespace, name) => byKey.get(configKey({ kind, namespace, name }));
}

/** Pacing flags without any delay or batch. */
export const unpaced: PacingFlags = {
  settleMs: 0,
  maxConcurrent: 0,
  soakMs: 0,
  haltAfterFailures: 0,
  rolloutTimeoutMs: 600_000,
  observe: false,
  window: undefined,
};

/** The policy of Wave without flags. */
export const defaultPolicy: Policy = {
  crossNamespace: "granted",
  namespaces: undefined,
  schedulingHold: true,
  pacing: unpaced,
};
