import { standsFor } from "./model-search.ts";
import { namedBy } from "./model-workload.ts";
import { badValue } from "./stage/crashing-pods.ts";
import { type Action, someConfig } from "./world-config-actions.ts";
import { encoded, workloadPlurals as plurals, someKey, someValue } from "./world-objects.ts";
import type { Present, Scene } from "./world-scene.ts";

const prefix = "wave.pusher.com/";

/** The holds and the pacing of a rollout. */
const policies = [
  "hold",
  "mode",
  "approved",
  "window",
  "settle",
  "min-interval",
  "batches",
  "priority",
  "resumed",
] as const;

/** The actions of people that delay or allow rollouts, and the actions that make such delays relevant. */
export const pacingActions: readonly Action[] = [
  { name: "hold or mode", weight: 3, act: hold },
  { name: "approve", weight: 3, act: approve },
  { name: "window", weight: 1.5, act: window },
  { name: "pace one", weight: 3, act: pace },
  { name: "lift what holds", weight: 5, act: lift },
  { name: "resume", weight: 2, act: resume },
  { name: "opt a namespace in or out", weight: 1, act: optNamespace },
  { name: "bad edit", weight: 2, act: badEdit },
  { name: "good edit", weight: 3, act: goodEdit },
  { name: "strip the hash again and again", weight: 0.7, act: stripOften },
];

/** What only runs with validators have. */
export const validatorActions: readonly Action[] = [
  { name: "edit what a validator reads", weight: 8, act: editChecked },
];

/** Reports whether a value was written that Wave cannot read. */
const mistakes = 0.06;

function hold(scene: Scene): Promise<string | undefined> {
  const { dice } = scene;
  const choices: readonly Said[] = [{ hold: "true" }, { hold: "true" }, { mode: "observe" }, { mode: "approve" }];
  const said = dice.chance(mistakes) ? dice.pick<Said>({ hold: "yes" }, { mode: "aprove" }) : dice.oneOf(choices);
  if (said === undefined) return Promise.resolve(undefined);
  if ("hold" in said && dice.chance(0.25)) return say(scene, someConfig(scene), said);
  return say(scene, someWhere(scene), said);
}

/** Returns the hash that Wave reports as its next rollout; sometimes another hash. */
function approve(scene: Scene): Promise<string | undefined> {
  const { dice, settings } = scene;
  const workload = dice.oneOf(scene.all(...plurals).filter(({ object }) => needsApproval(scene, object.metadata)));
  if (workload === undefined) return Promise.resolve(undefined);
  const configs = new Map(scene.all("configmaps", "secrets").map(({ object }) => [keyOf(object), object]));
  const { hash } = standsFor(namedBy(workload.object, settings), (key) => configs.get(key));
  if (hash === undefined) return Promise.resolve(undefined);
  const digits = hash.slice(hash.indexOf(":") + 1);
  const approved = dice.chance(0.15) ? dice.pick(digits.slice(0, 7), "00000000") : digits.slice(0, dice.pick(8, 12));
  return say(scene, workload, { approved });
}

function needsApproval(
  scene: Scene,
  { namespace, annotations }: { readonly namespace?: string; readonly annotations?: Said },
): boolean {
  const of = scene.all("namespaces").find(({ object }) => object.metadata.name === namespace);
  return (annotations?.[`${prefix}mode`] ?? of?.object.metadata.annotations?.[`${prefix}mode`]) === "approve";
}

/** Returns a window that opens or closes soon. */
function window(scene: Scene): Promise<string | undefined> {
  const { dice } = scene;
  if (dice.chance(mistakes)) return say(scene, someWhere(scene), { window: "sometimes" });
  const zone = dice.pick("UTC", "Europe/Berlin");
  const from = new Date(scene.wall() + dice.between(-3, 2) * 60_000);
  const [begin, end] = [from, new Date(from.getTime() + dice.between(1, 4) * 60_000)].map((time) => clock(time, zone));
  const days = dice.pick("Mon-Sun", "Mon-Sun", day(from, zone), "Sat,Sun");
  return say(scene, someWhere(scene), { window: `${days} ${begin}-${end}${zone === "UTC" ? "" : ` ${zone}`}` });
}

function clock(time: Date, timeZone: string): string {
  return time.toLocaleTimeString("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" });
}

function day(time: Date, timeZone: string): string {
  return time.toLocaleDateString("en-GB", { timeZone, weekday: "short" });
}

function pace(scene: Scene): Promise<string | undefined> {
  const { dice } = scene;
  const said = dice.pick<Said>(
    { settle: dice.pick("0", "500ms", "3s", "soon") },
    { "min-interval": dice.pick("15s", "1m") },
    { batches: dice.pick("off", "on") },
    { priority: dice.pick("10", "-10") },
  );
  return say(scene, someWhere(scene), said);
}

function resume(scene: Scene): Promise<string | undefined> {
  const time = new Date(scene.wall()).toISOString().replace(/\.\d+/, "");
  return say(scene, scene.dice.oneOf(scene.all(...plurals)), { resumed: time });
}

function lift(scene: Scene): Promise<string | undefined> {
  const held = [...scene.all(...plurals, "configmaps", "secrets"), ...ownNamespaces(scene)].filter(
    ({ object }) => saidBy(object).length > 0,
  );
  const one = scene.dice.oneOf(held);
  const name = one && scene.dice.oneOf(saidBy(one.object));
  if (one === undefined || name === undefined) return Promise.resolve(undefined);
  const { dice } = scene;
  return say(scene, one, { [name]: name === "hold" && dice.chance(0.3) ? "false" : null });
}

function optNamespace(scene: Scene): Promise<string | undefined> {
  const value = scene.dice.pick("true", "true", "false", null);
  return say(scene, scene.dice.oneOf(ownNamespaces(scene)), { "update-on-config-change": value });
}

function badEdit(scene: Scene): Promise<string | undefined> {
  return put(scene, someConfig(scene), someKey(scene.dice), badValue);
}

function editChecked(scene: Scene): Promise<string | undefined> {
  const { dice, shape } = scene;
  const isChecked = ({ object: { metadata } }: Present) =>
    metadata.name === "c0" && metadata.namespace === shape.namespaces[0];
  const value = dice.chance(0.4) ? badValue : `${someValue(dice)}${dice.between(1, 9)}`;
  return put(scene, scene.all("configmaps").find(isChecked), someKey(dice), value);
}

function goodEdit(scene: Scene): Promise<string | undefined> {
  const bad = scene.all("configmaps", "secrets").flatMap((config) => badKeys(config).map((key) => ({ config, key })));
  const one = scene.dice.oneOf(bad);
  return put(scene, one?.config, one?.key ?? "", someValue(scene.dice));
}

/** Restores the stored manifest again and again, like an owner that does not know Wave. */
async function stripOften(scene: Scene): Promise<string | undefined> {
  const { dice } = scene;
  const workload = dice.oneOf(scene.all(...plurals));
  if (workload === undefined) return undefined;
  const { uid } = workload.object.metadata;
  const times = dice.between(2, 20);
  const pauseMs = dice.pick(500, 3_000, 12_000);
  let stripped = 0;
  for (; stripped < times && !scene.rests; stripped++) {
    const now = scene.all(workload.plural).find(({ object }) => object.metadata.uid === uid);
    if (now === undefined) break;
    const removed = { spec: { template: { metadata: { annotations: { [`${prefix}config-hash`]: null } } } } };
    await scene.merge(now, removed, "gitops");
    await scene.sleep(pauseMs);
  }
  return `${stripped} times ${workload.object.kind} ${workload.object.metadata.name}`;
}

/** Removes everything that holds a rollout, and repairs all configuration with which Pods crash. */
export async function releaseAll(scene: Scene): Promise<void> {
  for (const one of [...scene.all(...plurals, "configmaps", "secrets"), ...ownNamespaces(scene)]) {
    const lifted = Object.fromEntries(saidBy(one.object).map((name) => [name, null]));
    if (Object.keys(lifted).length > 0) await say(scene, one, lifted);
  }
  for (const config of scene.all("configmaps", "secrets")) {
    for (const key of badKeys(config)) await put(scene, config, key, "mended");
  }
}

type Said = Readonly<Record<string, string | null>>;

async function say(scene: Scene, one: Present | undefined, said: Said): Promise<string | undefined> {
  if (one === undefined) return undefined;
  const annotations = Object.fromEntries(Object.entries(said).map(([name, value]) => [prefix + name, value]));
  return `${JSON.stringify(said)} ${await scene.merge(one, { metadata: { annotations } }, "kubectl-annotate")}`;
}

async function put(scene: Scene, config: Present | undefined, key: string, value: string): Promise<string | undefined> {
  if (config === undefined) return undefined;
  const binary = config.object.kind === "ConfigMap" ? { binaryData: { [key]: null } } : {};
  return scene.merge(config, { data: { [key]: encoded(config.object.kind, value) }, ...binary });
}

function badKeys({ object }: Present): readonly string[] {
  const data = (object.data ?? {}) as Readonly<Record<string, string>>;
  return Object.keys(data).filter((key) => data[key] === encoded(object.kind, badValue));
}

function saidBy({ metadata }: Present["object"]): readonly string[] {
  return policies.filter((name) => metadata.annotations?.[prefix + name] !== undefined);
}

function someWhere(scene: Scene): Present | undefined {
  return scene.dice.oneOf(scene.dice.chance(0.25) ? ownNamespaces(scene) : scene.all(...plurals));
}

function ownNamespaces(scene: Scene): readonly Present[] {
  return scene.all("namespaces").filter(({ object }) => scene.shape.namespaces.includes(object.metadata.name));
}

function keyOf({ kind, metadata }: Present["object"]): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`;
}
