import { createHash } from "node:crypto";
import { isObject, type Json, type JsonObject, objectOf, sameJson, valueAt, without } from "../objects/json.ts";
import type { ApiObject } from "../objects/object.ts";
import { resources } from "../objects/resources.ts";
import { create } from "../registry/registry.ts";
import { type ControllerRegistry, controlledBy, controllerManager, controllerReference } from "./controller.ts";
import { templateOf } from "./pods.ts";

/** Counts the templates that a Deployment has had; on it and on its ReplicaSets. */
export const revisionAnnotation = "deployment.kubernetes.io/revision";

/** The letters and digits that Kubernetes makes names of. */
const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/** The hashes of templates: what is stored never changes in place, and a template is hashed in each sync of its workload. */
const hashes = new WeakMap<object, string>();

/** Returns a hash of a stored template, ten characters long. Storage has its fields in one order. */
export function templateHash(template: JsonObject | readonly Json[]): string {
  const known = hashes.get(template);
  if (known !== undefined) return known;
  const digest = createHash("sha256").update(JSON.stringify(template)).digest();
  const hash = Array.from(digest.subarray(0, 10), (byte) => alphabet[byte % alphabet.length]).join("");
  hashes.set(template, hash);
  return hash;
}

/** Where a ControllerRevision says its hash. */
function hashLabel({ kind }: ApiObject): string {
  return kind === "DaemonSet" ? "controller-revision-hash" : "controller.kubernetes.io/hash";
}

/** One state of a StatefulSet's or DaemonSet's template, kept as a ControllerRevision. */
export interface Revision {
  /** `web-5d8c7f9b6d` */
  readonly name: string;
  readonly hash: string;
  readonly template: JsonObject;
}

/** Returns the revision of the current template. Creates the revision if it is new; otherwise makes it the latest again. */
export function currentRevision(registry: ControllerRegistry, workload: ApiObject): Revision {
  const template = templateOf(workload);
  const all = controlledBy(registry, workload, resources.controllerRevisions);
  const latest = Math.max(0, ...all.map(({ revision }) => Number(revision)));
  const { namespace, uid } = workload.metadata;
  const nameOf = (hash: string) => `${workload.metadata.name}-${hash}`;
  // As after a collision in Kubernetes: a workload of another kind, or one that was deleted, may have the same name and template.
  const possible = function* () {
    yield templateHash(template);
    yield templateHash([template, uid]);
  };
  const own = possible().find((each) => all.some(({ metadata }) => metadata.name === nameOf(each)));
  const isFree = (each: string) =>
    registry.storage.get(resources.controllerRevisions, namespace, nameOf(each)) === undefined;
  const hash = own ?? possible().find(isFree) ?? "";
  const name = nameOf(hash);
  const found = all.find(({ metadata }) => metadata.name === name);
  if (found === undefined) {
    const { labels } = objectOf(template.metadata);
    const body = {
      metadata: {
        name,
        labels: { ...objectOf(labels), [hashLabel(workload)]: hash },
        ownerReferences: controllerReference(workload) ?? [],
      },
      data: { spec: { template: { ...template, $patch: "replace" } } },
      revision: latest + 1,
    };
    create(registry, resources.controllerRevisions, namespace, body, controllerManager);
  } else if (found.revision !== latest) {
    registry.storage.put(resources.controllerRevisions, { ...found, revision: latest + 1 });
  }
  return { name, hash, template };
}

/** Returns the revision of this name; undefined if the workload no longer has it. */
export function revisionNamed(registry: ControllerRegistry, workload: ApiObject, name: string): Revision | undefined {
  const object = registry.storage.get(resources.controllerRevisions, workload.metadata.namespace, name);
  const template = valueAt(object, "data", "spec", "template");
  if (object === undefined || !isObject(template)) return undefined;
  const hash = object.metadata.labels?.[hashLabel(workload)] ?? "";
  return { name, hash, template: without(template, "$patch") };
}

/** Reports whether two templates are the same except for the label that distinguishes ReplicaSets. */
export function sameTemplate(a: JsonObject, b: JsonObject): boolean {
  return sameJson(withoutHashLabel(a), withoutHashLabel(b));
}

function withoutHashLabel(template: JsonObject): JsonObject {
  const metadata = isObject(template.metadata) ? template.metadata : {};
  const labels = isObject(metadata.labels) ? without(metadata.labels, "pod-template-hash") : {};
  return { ...template, metadata: { ...metadata, labels } };
}
