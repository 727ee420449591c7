import { configKinds, configNames, encoded, someContent, someKey, someValue } from "./world-objects.ts";
import type { Present, Scene } from "./world-scene.ts";

/** An action of people; undefined if there is no object for it. */
export interface Action {
  readonly name: string;
  /** The frequency, relative to the other actions. */
  readonly weight: number;
  readonly act: (scene: Scene) => Promise<string | undefined>;
}

/** The actions of people and tools on ConfigMaps, Secrets and namespaces. */
export const configActions: readonly Action[] = [
  { name: "edit", weight: 15, act: (scene) => withConfig(scene, (config) => edit(scene, config)) },
  { name: "edit what nobody reads", weight: 4, act: (scene) => withConfig(scene, (config) => label(scene, config)) },
  { name: "move a key to binaryData and back", weight: 2, act: moveKey },
  { name: "empty configuration", weight: 2, act: (scene) => withConfig(scene, (config) => empty(scene, config)) },
  { name: "delete configuration", weight: 4, act: (scene) => withConfig(scene, (config) => scene.remove(config)) },
  { name: "recreate configuration", weight: 3, act: (scene) => withConfig(scene, (config) => recreate(scene, config)) },
  { name: "create configuration", weight: 8, act: createConfig },
  { name: "give or take a grant", weight: 2, act: (scene) => withConfig(scene, (config) => grant(scene, config)) },
  { name: "delete a namespace", weight: 0.5, act: deleteNamespace },
  { name: "create a namespace", weight: 2, act: createNamespace },
];

/** Returns one of the ConfigMaps and Secrets. */
export function someConfig(scene: Scene): Present | undefined {
  return scene.dice.oneOf(scene.all(...configKinds.map(({ plural }) => plural)));
}

/** Gives one key another value, or removes the key. */
export function edit(scene: Scene, config: Present, manager = "kubectl-edit"): Promise<string> {
  const value = scene.dice.chance(0.1) ? null : encoded(config.object.kind, someValue(scene.dice));
  return scene.merge(config, keyOf(config, someKey(scene.dice), value), manager);
}

/** Returns a ConfigMap or Secret under a name that is not used in its namespace. */
export function createConfig(scene: Scene): Promise<string | undefined> {
  const { dice, shape } = scene;
  const [kind, name, namespace] = [
    dice.oneOf(configKinds),
    dice.oneOf(configNames(shape)),
    dice.oneOf(shape.namespaces),
  ];
  if (kind === undefined || name === undefined || namespace === undefined) return Promise.resolve(undefined);
  return createNamed(scene, kind, namespace, name);
}

/** Creates this ConfigMap or Secret if it does not exist. */
export async function createNamed(
  scene: Scene,
  { kind, plural }: (typeof configKinds)[number],
  namespace: string,
  name: string,
): Promise<string | undefined> {
  if (scene.exists(plural, namespace, name) || !scene.exists("namespaces", undefined, namespace)) return undefined;
  const { dice, shape } = scene;
  const granted = dice.chance(shape.crossing / 2) ? { annotations: someGrant(scene) } : {};
  const metadata = { name, namespace, ...granted };
  return scene.create(plural, { apiVersion: "v1", kind, metadata, ...someContent(dice, kind) }, namespace);
}

/** Returns a merge patch that puts a key only into `data`: no key may be in both places. */
function keyOf({ object }: Present, key: string, value: string | null): object {
  return { data: { [key]: value }, ...(object.kind === "ConfigMap" && { binaryData: { [key]: null } }) };
}

async function withConfig(scene: Scene, act: (config: Present) => Promise<string>): Promise<string | undefined> {
  const config = someConfig(scene);
  return config && act(config);
}

function label(scene: Scene, config: Present): Promise<string> {
  const value = someValue(scene.dice);
  const change = scene.dice.pick<object>(
    { metadata: { labels: { note: value } } },
    { metadata: { annotations: { note: value } } },
    keyOf(config, "unread", encoded(config.object.kind, value)),
  );
  return scene.merge(config, change);
}

/** The same value for files, and no value for variables. */
async function moveKey(scene: Scene): Promise<string | undefined> {
  const config = scene.dice.oneOf(scene.all("configmaps"));
  if (config === undefined) return undefined;
  const { data = {}, binaryData = {} } = config.object as {
    readonly data?: Readonly<Record<string, string>>;
    readonly binaryData?: Readonly<Record<string, string>>;
  };
  const key = scene.dice.oneOf([...Object.keys(data), ...Object.keys(binaryData)]);
  if (key === undefined) return undefined;
  const text = data[key];
  const change =
    text === undefined
      ? { data: { [key]: Buffer.from(binaryData[key] ?? "", "base64").toString() }, binaryData: { [key]: null } }
      : { data: { [key]: null }, binaryData: { [key]: encoded("Secret", text) } };
  return scene.merge(config, change);
}

function empty(scene: Scene, config: Present): Promise<string> {
  const { apiVersion = "v1", kind, metadata } = config.object;
  const { name, namespace, annotations = {} } = metadata;
  return scene.replace(config, { apiVersion, kind, metadata: { name, namespace, annotations } }, "kubectl-replace");
}

/** Deletes and recreates, often the same object, often at once. */
async function recreate(scene: Scene, config: Present): Promise<string> {
  const { dice } = scene;
  const { apiVersion = "v1", kind, metadata, data, binaryData } = config.object;
  const { name, namespace, annotations = {} } = metadata;
  const content = dice.chance(0.5) ? { data, binaryData } : someContent(dice, kind);
  const gone = await scene.remove(config);
  if (dice.chance(0.5)) await scene.sleep(dice.between(1, 5_000));
  const body = { apiVersion, kind, metadata: { name, namespace, annotations }, ...content };
  return `${gone}, ${await scene.create(config.plural, body, namespace)}`;
}

function grant(scene: Scene, config: Present): Promise<string> {
  const given = config.object.metadata.annotations?.["wave.pusher.com/shared-with"] !== undefined;
  const taken = { "wave.pusher.com/shared-with": null };
  return scene.merge(config, { metadata: { annotations: given && scene.dice.chance(0.6) ? taken : someGrant(scene) } });
}

function someGrant({ dice, shape }: Scene): object {
  const names = shape.namespaces.filter(() => dice.chance(0.6));
  return { "wave.pusher.com/shared-with": dice.chance(0.3) ? "*" : names.join(", ") };
}

async function deleteNamespace(scene: Scene): Promise<string | undefined> {
  const world = scene.all("namespaces").filter(({ object }) => scene.shape.namespaces.includes(object.metadata.name));
  const namespace = scene.dice.oneOf(world);
  return namespace && scene.remove(namespace);
}

async function createNamespace(scene: Scene): Promise<string | undefined> {
  const name = scene.shape.namespaces.find((one) => !scene.exists("namespaces", undefined, one));
  return name === undefined ? undefined : scene.create("namespaces", namespaceOf(name), undefined);
}

/** Returns a namespace to create. */
export function namespaceOf(name: string): object {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}
