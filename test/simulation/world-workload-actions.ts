import type { StoredObject } from "./record.ts";
import { type Action, createNamed, edit } from "./world-config-actions.ts";
import {
  configKinds,
  workloadPlurals as plurals,
  someExtras,
  somePodSpec,
  someWorkload,
  widgetKind,
  workloadKinds,
} from "./world-objects.ts";
import { undo } from "./world-rollback.ts";
import type { Present, Scene } from "./world-scene.ts";

const optIn = "wave.pusher.com/update-on-config-change";
const hash = "wave.pusher.com/config-hash";
const pinned = "wave.pusher.com/pinned";
const schedulingHold = "wave.pusher.com/scheduling-disabled";
const impossible = "wave.pusher.com/invalid";

/** The actions of people and tools on workloads. */
export const workloadActions: readonly Action[] = [
  { name: "create a workload", weight: 5, act: createWorkload },
  { name: "delete a workload", weight: 2, act: (scene) => withWorkload(scene, (one) => scene.remove(one)) },
  { name: "recreate a workload", weight: 2, act: (scene) => withWorkload(scene, (one) => recreate(scene, one)) },
  { name: "edit the template", weight: 6, act: (scene) => withWorkload(scene, (one) => editTemplate(scene, one)) },
  { name: "change what is read", weight: 4, act: (scene) => withWorkload(scene, (one) => changeReads(scene, one)) },
  { name: "rollout undo", weight: 4, act: (scene) => withWorkload(scene, (one) => undo(scene, one)) },
  { name: "helm upgrade", weight: 5, act: (scene) => withWorkload(scene, (one) => helmUpgrade(scene, one)) },
  { name: "strip the hash", weight: 2, act: (scene) => withWorkload(scene, (one) => strip(scene, one)) },
  { name: "touch the scheduling hold", weight: 2, act: touchSchedulingHold },
  { name: "opt in or out", weight: 3, act: (scene) => withWorkload(scene, (one) => opt(scene, one)) },
  { name: "change the extras", weight: 2, act: (scene) => withWorkload(scene, (one) => changeExtras(scene, one)) },
  { name: "scale", weight: 3, act: (scene) => withWorkload(scene, (one) => scale(scene, one)) },
  { name: "annotate", weight: 3, act: (scene) => withWorkload(scene, (one) => annotate(scene, one)) },
];

/** What only runs with other releases have. */
export const releaseActions: readonly Action[] = [
  { name: "install another release", weight: 8, act: (scene) => withWorkload(scene, (one) => release(scene, one)) },
];

/** Returns a kind. If Widgets exist, two of five are Widgets. */
const withWidgets = [...workloadKinds, widgetKind, widgetKind];

async function withWorkload(scene: Scene, act: (workload: Present) => Promise<string | undefined>) {
  const workload = scene.dice.oneOf(scene.all(...plurals));
  return workload && act(workload);
}

/** Returns a workload of any kind under an unused name. */
export async function createWorkload(scene: Scene): Promise<string | undefined> {
  const { dice, shape } = scene;
  const namespace = dice.oneOf(shape.namespaces);
  const row = dice.oneOf(scene.settings.workloadKinds === undefined ? workloadKinds : withWidgets);
  if (namespace === undefined || row === undefined || scene.all(...plurals).length >= shape.workloads) return undefined;
  const name = `w${dice.between(0, shape.workloads - 1)}`;
  if (scene.exists(row.plural, namespace, name) || !scene.exists("namespaces", undefined, namespace)) return undefined;
  return scene.create(row.plural, someWorkload(dice, shape, row.kind, namespace, name), namespace);
}

async function recreate(scene: Scene, workload: Present): Promise<string> {
  const { metadata } = workload.object;
  const body = scene.dice.chance(0.5)
    ? manifestOf(workload.object)
    : someWorkload(scene.dice, scene.shape, workload.object.kind, metadata.namespace ?? "", metadata.name);
  const gone = await scene.remove(workload);
  return `${gone}, ${await scene.create(workload.plural, body, metadata.namespace)}`;
}

function editTemplate(scene: Scene, workload: Present): Promise<string> {
  const annotations = { edited: String(scene.dice.between(1, 9)) };
  return scene.merge(workload, { spec: { template: { metadata: { annotations } } } });
}

/** Replaces the whole pod spec, because removed volumes would have to be deleted by name. */
function changeReads(scene: Scene, workload: Present): Promise<string> {
  const spec = somePodSpec(scene.dice, scene.shape);
  const schedulerName = schedulerOf(workload);
  const value = { ...(schedulerName !== undefined && { schedulerName }), ...spec };
  const body = [{ op: "replace", path: "/spec/template/spec", value }];
  return scene.patch(workload, "json-patch+json", body, "kubectl-edit");
}

/**
 * Changes the configuration first and the workload milliseconds later. The workload is changed by a patch of the changes in the
 * chart, by a replacement without the writes of Wave, or by an apply, which keeps the fields of other owners.
 */
async function helmUpgrade(scene: Scene, workload: Present): Promise<string> {
  const { dice } = scene;
  const { namespace = "", name } = workload.object.metadata;
  const done: string[] = [];
  for (let i = dice.between(1, 2); i > 0; i--) {
    const config = dice.oneOf(scene.all("configmaps", "secrets").filter((one) => isIn(one, namespace)));
    if (config !== undefined) done.push(await edit(scene, config, "helm"));
    await scene.sleep(dice.pick(0, 1, 5, 30, 300));
  }
  const kind = dice.chance(0.3) ? dice.oneOf(configKinds) : undefined;
  const created = kind && (await createNamed(scene, kind, namespace, "c0"));
  if (created !== undefined) done.push(created);
  // The object may have been replaced or deleted meanwhile.
  const now = scene.all(workload.plural).find((one) => isIn(one, namespace) && one.object.metadata.name === name);
  if (now === undefined) return done.join(", ");
  const revision = { "meta.helm.sh/revision": String(dice.between(1, 99)) };
  const change = { spec: { template: { metadata: { annotations: revision } } } };
  const whole = withTemplateAnnotations(manifestOf(now.object), revision);
  const upgrade = dice.pick(
    () => scene.patch(now, `${now.plural === widgetKind.plural ? "" : "strategic-"}merge-patch+json`, change, "helm"),
    () => scene.replace(now, whole, "helm"),
    () => scene.patch(now, "apply-patch+yaml", whole, "argocd", { force: "true" }),
  );
  return [...done, await upgrade()].join(", ");
}

/**
 * Installs a manifest whose Pods read other configuration, without the writes of Wave. A server-side apply would merge both pod specs, for
 * example into a volume of two types, which a real API server rejects.
 */
function release(scene: Scene, workload: Present): Promise<string> {
  const { dice, shape } = scene;
  const { spec, ...manifest } = manifestOf(workload.object);
  const { schedulerName } = spec.template.spec;
  const pod = { ...(schedulerName !== undefined && { schedulerName }), ...somePodSpec(dice, shape) };
  const whole = { ...manifest, spec: { ...spec, template: { ...spec.template, spec: pod } } };
  return scene.replace(workload, whole, "helm");
}

/** Restores the stored manifest without the hash, like an owner that does not know Wave. */
async function strip(scene: Scene, workload: Present): Promise<string | undefined> {
  if (scene.stripsLeft === 0) return undefined;
  scene.stripsLeft--;
  const removed = { spec: { template: { metadata: { annotations: { [hash]: null } } } } };
  return scene.dice.chance(0.5)
    ? scene.merge(workload, removed, "gitops")
    : scene.replace(workload, manifestOf(workload.object), "gitops");
}

/** Starts the Pods at once, as a person does: removes the annotation of the hold, the opt-in, or both, or sets the scheduler. */
async function touchSchedulingHold(scene: Scene): Promise<string | undefined> {
  const schedulingHeld = scene.all(...plurals).filter((one) => schedulerOf(one) === impossible);
  const workload = scene.dice.oneOf(schedulingHeld);
  if (workload === undefined) return undefined;
  const change = scene.dice.pick<object>(
    { metadata: { annotations: { [schedulingHold]: null } } },
    { metadata: { annotations: { [schedulingHold]: null, [optIn]: null } } },
    { metadata: { annotations: { [optIn]: null } } },
    { spec: { template: { spec: { schedulerName: "default-scheduler" } } } },
  );
  return scene.merge(workload, change);
}

function opt(scene: Scene, workload: Present): Promise<string> {
  const isIn = workload.object.metadata.annotations?.[optIn] === "true";
  const value = isIn ? scene.dice.pick(null, "false", "True", "yes") : "true";
  return scene.merge(workload, { metadata: { annotations: { [optIn]: value } } });
}

function changeExtras(scene: Scene, workload: Present): Promise<string> {
  const none = { "wave.pusher.com/extra-configmaps": null, "wave.pusher.com/extra-secrets": null };
  const some = someExtras(scene.dice, scene.shape, workload.object.metadata.namespace ?? "");
  return scene.merge(workload, { metadata: { annotations: { ...none, ...some } } });
}

function scale(scene: Scene, workload: Present): Promise<string | undefined> {
  if (workload.plural === "daemonsets") return Promise.resolve(undefined);
  return scene.merge(workload, { spec: { replicas: scene.dice.between(0, 3) } }, "kubectl-scale");
}

function annotate(scene: Scene, workload: Present): Promise<string> {
  const value = String(scene.dice.between(1, 3));
  const change = scene.dice.pick<object>({ labels: { note: value } }, { annotations: { note: value } });
  return scene.merge(workload, { metadata: change });
}

/** Returns the manifest of the owner in Git, without the writes of Wave and of the API server. */
function manifestOf({ apiVersion, kind, metadata, spec }: StoredObject): Manifest {
  const { name, namespace, labels, annotations = {} } = metadata;
  const kept = Object.entries(annotations).filter(([key]) => key !== schedulingHold && !key.startsWith("deprecated."));
  const { template, ...rest } = spec as Manifest["spec"];
  const { schedulerName, ...pod } = template.spec;
  const templateAnnotations = Object.entries(template.metadata.annotations ?? {}).filter(
    ([key]) => key !== hash && key !== pinned,
  );
  return {
    apiVersion: apiVersion ?? "apps/v1",
    kind,
    metadata: { name, namespace, ...(labels && { labels }), annotations: Object.fromEntries(kept) },
    spec: {
      ...rest,
      template: {
        metadata: { ...template.metadata, annotations: Object.fromEntries(templateAnnotations) },
        spec: { ...pod, ...(schedulerName !== impossible && { schedulerName }) },
      },
    },
  };
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: { readonly schedulerName?: string };
    };
  };
}

function withTemplateAnnotations(manifest: Manifest, more: Readonly<Record<string, string>>): Manifest {
  const { template, ...spec } = manifest.spec;
  const annotations = { ...template.metadata.annotations, ...more };
  return { ...manifest, spec: { ...spec, template: { ...template, metadata: { ...template.metadata, annotations } } } };
}

function schedulerOf({ object }: Present): string | undefined {
  return (object.spec as Manifest["spec"]).template.spec.schedulerName;
}

function isIn({ object }: Present, namespace: string): boolean {
  return object.metadata.namespace === namespace;
}
