import type { Dice } from "./dice.ts";
import { brokenImage } from "./stage/crashing-pods.ts";
import type { Shape } from "./world-scenarios.ts";

/** The kinds of configuration, with their plurals in the API. */
export const configKinds = [
  { kind: "ConfigMap", plural: "configmaps" },
  { kind: "Secret", plural: "secrets" },
] as const;

/** The kinds of workloads. */
export const workloadKinds = [
  { kind: "Deployment", plural: "deployments" },
  { kind: "StatefulSet", plural: "statefulsets" },
  { kind: "DaemonSet", plural: "daemonsets" },
] as const;

/** A kind that Wave knows only from `--workload-kinds`. */
export const widgetKind = { kind: "Widget", plural: "widgets" } as const;

/** The plurals of all kinds of workloads. */
export const workloadPlurals: readonly string[] = [...workloadKinds, widgetKind].map(({ plural }) => plural);

/** Only a few keys and values, so that A → B → A happens. */
const keys = ["k1", "k2", "k3"];
const values = ["x", "y", "z", ""];

/** The names that configuration may have in each namespace. */
export function configNames({ configs }: Shape): readonly string[] {
  return Array.from({ length: configs }, (_, i) => `c${i}`);
}

/** Returns a value in the form of this kind. */
export function encoded(kind: string, value: string): string {
  return kind === "Secret" ? Buffer.from(value).toString("base64") : value;
}

/** Returns one of the few keys. */
export function someKey(dice: Dice): string {
  return dice.oneOf(keys) ?? "k1";
}

/** Returns one of the few values. */
export function someValue(dice: Dice): string {
  return dice.oneOf(values) ?? "x";
}

/** Returns the content of a ConfigMap or Secret: often all keys, sometimes none. */
export function someContent(dice: Dice, kind: string): Readonly<Record<string, unknown>> {
  if (dice.chance(0.1)) return {};
  const chosen = keys.filter(() => dice.chance(0.8)).map((key) => [key, someValue(dice)] as const);
  const binary = kind === "ConfigMap" ? chosen.filter(() => dice.chance(0.15)) : [];
  const text = chosen.filter((one) => !binary.includes(one));
  const data = Object.fromEntries(text.map(([key, value]) => [key, encoded(kind, value)]));
  if (binary.length === 0) return { data };
  return { data, binaryData: Object.fromEntries(binary.map(([key, value]) => [key, encoded("Secret", value)])) };
}

type Json = Readonly<Record<string, unknown>>;

/** The parts of a pod spec that read configuration. */
interface Reads {
  readonly env: Json[];
  readonly envFrom: Json[];
  readonly volumes: Json[];
  readonly mounts: Json[];
}

/** A form of reference from a pod spec to an object. */
type Form = (reads: Reads, dice: Dice, name: string, optional: boolean) => void;

const forms: readonly Form[] = [
  ({ env }, dice, name, optional) => {
    const selector = { name, key: someKey(dice), ...(optional && { optional }) };
    const valueFrom = dice.pick<Json>({ configMapKeyRef: selector }, { secretKeyRef: selector });
    env.push({ name: `V${env.length}`, valueFrom });
  },
  ({ envFrom }, dice, name, optional) => {
    const ref = { name, ...(optional && { optional }) };
    envFrom.push(dice.pick<Json>({ configMapRef: ref }, { secretRef: ref }));
  },
  (reads, dice, name, optional) => {
    const more = { ...(optional && { optional }), ...someItems(dice) };
    const source = dice.pick<Json>({ configMap: { name, ...more } }, { secret: { secretName: name, ...more } });
    mount(reads, dice, source);
  },
  (reads, dice, name, optional) => {
    const more = { name, ...(optional && { optional }), ...someItems(dice) };
    const sources = dice.pick<readonly Json[]>(
      [{ configMap: more }],
      [{ secret: more }],
      [{ configMap: more }, { secret: { name, optional: true } }],
    );
    mount(reads, dice, { projected: { sources } });
  },
];

function someItems(dice: Dice): Json {
  if (dice.chance(0.6)) return {};
  const chosen = keys.filter(() => dice.chance(0.5));
  return { items: chosen.map((key) => ({ key, path: dice.pick(key, `folder/${key}`) })) };
}

function mount({ volumes, mounts }: Reads, dice: Dice, source: Json): void {
  const name = `v${volumes.length}`;
  volumes.push({ name, ...source });
  const mountPath = `/${name}`;
  // A volume without a mount is tracked as a whole.
  if (dice.chance(0.1)) return;
  const subPath = dice.chance(0.4) ? dice.pick(someKey(dice), "folder", `folder/${someKey(dice)}`) : undefined;
  mounts.push({ name, mountPath, ...(subPath !== undefined && { subPath }) });
}

/** Returns a pod spec that names some objects of its namespace, in any form. */
export function somePodSpec(dice: Dice, shape: Shape): Json {
  const reads: Reads = { env: [], envFrom: [], volumes: [], mounts: [] };
  const count = dice.pick(0, 1, 1, 2, 2, 3);
  for (let i = 0; i < count; i++) {
    const form = dice.oneOf(forms);
    form?.(reads, dice, dice.oneOf(configNames(shape)) ?? "c0", dice.chance(0.4));
  }
  const { env, envFrom, volumes, mounts } = reads;
  const works = `app:${dice.between(1, 3)}`;
  const image = shape.broken && dice.chance(0.25) ? brokenImage : works;
  const container = { name: "app", image, env, envFrom, volumeMounts: mounts };
  // References of an initContainer are tracked too.
  const first = dice.chance(0.3);
  const bare = { name: first ? "main" : "beside", image: "other:1" };
  return {
    containers: first
      ? [{ ...bare, image: image === works ? bare.image : image }]
      : [container, ...(dice.chance(0.2) ? [bare] : [])],
    ...(first && { initContainers: [container] }),
    ...(volumes.length > 0 && { volumes }),
    ...(dice.chance(0.1) && { imagePullSecrets: [{ name: "c0" }] }),
    ...(dice.chance(0.1) && { schedulerName: "another-scheduler" }),
  };
}

/** Returns the annotations `extra-…` that a workload may have, also for other namespaces. */
export function someExtras(dice: Dice, shape: Shape, own: string): Readonly<Record<string, string>> {
  if (!dice.chance(Math.max(0.15, shape.crossing))) return {};
  const names = Array.from({ length: dice.between(1, 2) }, () => {
    const name = dice.oneOf(configNames(shape)) ?? "c0";
    const namespace = dice.chance(shape.crossing) ? (dice.oneOf(shape.namespaces) ?? own) : own;
    return namespace === own ? name : `${namespace}/${name}`;
  });
  return { [`wave.pusher.com/extra-${dice.pick("configmaps", "secrets")}`]: names.join(",") };
}

/** Returns a workload of this kind to create. */
export function someWorkload(dice: Dice, shape: Shape, kind: string, namespace: string, name: string): Json {
  const optIn = dice.chance(0.9) ? { "wave.pusher.com/update-on-config-change": "true" } : {};
  // Left behind by an earlier Wave or a backup; another client may have removed the annotation.
  const schedulingHeld = dice.chance(0.05);
  const note = schedulingHeld && dice.chance(0.5) ? { "wave.pusher.com/scheduling-disabled": "default-scheduler" } : {};
  const scheduler = schedulingHeld ? { schedulerName: "wave.pusher.com/invalid" } : {};
  const pins = shape.pinned && dice.chance(0.7) ? { "wave.pusher.com/pin-config": "true" } : {};
  const isValidator = shape.validators === true && kind === "Deployment" && dice.chance(0.3);
  const role = isValidator ? { "wave.pusher.com/validator": "true" } : {};
  const labels = { app: name };
  return {
    apiVersion: kind === widgetKind.kind ? "example.com/v1" : "apps/v1",
    kind,
    metadata: {
      name,
      namespace,
      annotations: { ...optIn, ...role, ...pins, ...note, ...someExtras(dice, shape, namespace) },
    },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { ...somePodSpec(dice, shape), ...scheduler } },
      ...someStrategy(dice, kind),
      // Without old revisions, copies are soon unused.
      ...(shape.pinned && kind === "Deployment" && { revisionHistoryLimit: dice.pick(0, 0, 1, 10) }),
    },
  };
}

/** How many Deployments {@link checkedWorkloads} returns. */
export const checkedCount = 4;

/** Returns a validator and three Deployments that read the same object, so that edits of it are judged often. */
export function checkedWorkloads(namespace: string): readonly Json[] {
  const reads = [{ configMapRef: { name: "c0", optional: true } }];
  return Array.from({ length: checkedCount }, (_, index) => {
    const [name, role] = index === 0 ? ["v0", { "wave.pusher.com/validator": "true" }] : [`r${index}`, {}];
    const labels = { app: name };
    return {
      ...{ apiVersion: "apps/v1", kind: "Deployment" },
      metadata: { name, namespace, annotations: { "wave.pusher.com/update-on-config-change": "true", ...role } },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "app", image: "app:1", envFrom: reads }] } },
      },
    };
  });
}

function someStrategy(dice: Dice, kind: string): Json {
  const replicas = dice.pick(0, 1, 1, 2);
  if (kind === "Deployment") {
    return { replicas, ...(dice.chance(0.2) && { strategy: { type: "Recreate" } }) };
  }
  if (kind === widgetKind.kind) return { replicas };
  const updateStrategy = dice.chance(0.15) ? { updateStrategy: { type: "OnDelete" } } : {};
  if (kind === "DaemonSet") return updateStrategy;
  const claim = {
    metadata: { name: "v0" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };
  return {
    replicas,
    serviceName: "",
    ...updateStrategy,
    ...(dice.chance(0.3) && { podManagementPolicy: "Parallel" }),
    // Its claim hides a volume with the same name.
    ...(dice.chance(0.1) && { volumeClaimTemplates: [claim] }),
  };
}
