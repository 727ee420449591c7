import type { Dice } from "./dice.ts";
import type { BatchSettings, StoredObject, WorldOptions } from "./record.ts";
import type { Shape } from "./world-scenarios.ts";

const groups: Readonly<Record<string, string>> = {
  namespaces: "/api/v1",
  configmaps: "/api/v1",
  secrets: "/api/v1",
  deployments: "/apis/apps/v1",
  statefulsets: "/apis/apps/v1",
  daemonsets: "/apis/apps/v1",
  widgets: "/apis/example.com/v1",
};

/** An object that currently exists. */
export interface Present {
  readonly plural: string;
  readonly object: StoredObject;
}

/** The stored objects and the API server, on which people act. */
export class Scene {
  readonly dice: Dice;
  readonly shape: Shape;
  readonly sleep: (ms: number) => Promise<void>;
  readonly settings: BatchSettings;
  /** Whether all repeated actions have ended. */
  rests = false;
  /** How often an owner may still strip the writes of Wave: an owner that never stops is a different case. */
  stripsLeft = 4;
  readonly #options: WorldOptions;
  readonly #present = new Map<string, Present>();
  #read = 0;

  constructor(options: WorldOptions, dice: Dice, shape: Shape, settings: BatchSettings) {
    this.settings = settings;
    this.#options = options;
    this.dice = dice;
    this.shape = shape;
    this.sleep = options.sleep;
  }

  /** Returns the true wall-clock time, milliseconds since the epoch. */
  wall(): number {
    return this.#options.paced?.wall() ?? 0;
  }

  /** Returns all stored objects of these kinds that are not being deleted, without the pinned copies of Wave. */
  all(...plurals: readonly string[]): readonly Present[] {
    this.#catchUp();
    return [...this.#present.values()].filter(
      ({ plural, object: { metadata } }) =>
        plurals.includes(plural) &&
        metadata.deletionTimestamp === undefined &&
        metadata.labels?.["wave.pusher.com/pinned-copy"] === undefined,
    );
  }

  /** Reports whether an object of this name exists; an object that is being deleted exists. */
  exists(plural: string, namespace: string | undefined, name: string): boolean {
    this.#catchUp();
    return this.#present.has(keyOf(plural, namespace, name));
  }

  /** Returns the states that an object has had, oldest first. */
  statesOf({ metadata: { uid } }: StoredObject): readonly StoredObject[] {
    return this.#options.history.flatMap(({ after }) => (after?.metadata.uid === uid ? [after] : []));
  }

  /** Creates an object. */
  create(plural: string, body: object, namespace: string | undefined): Promise<string> {
    return this.#send("POST", pathOf(plural, namespace), { body });
  }

  /** Replaces an object with `body`, whatever its current state is. */
  replace({ plural, object }: Present, body: object, manager: string): Promise<string> {
    const { namespace, name } = object.metadata;
    return this.#send("PUT", pathOf(plural, namespace, name), { body, manager });
  }

  /** Patches an object. */
  patch({ plural, object }: Present, type: string, body: object, manager: string, query = {}): Promise<string> {
    const { namespace, name } = object.metadata;
    const contentType = `application/${type}`;
    return this.#send("PATCH", pathOf(plural, namespace, name), { body, manager, contentType, query });
  }

  /** Returns a JSON merge patch. */
  merge(present: Present, body: object, manager = "kubectl-edit"): Promise<string> {
    return this.patch(present, "merge-patch+json", body, manager);
  }

  /** Deletes an object. */
  remove({ plural, object }: Present): Promise<string> {
    const { namespace, name } = object.metadata;
    return this.#send("DELETE", pathOf(plural, namespace, name), {});
  }

  async #send(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, options: object): Promise<string> {
    const { status } = await this.#options.api.request(method, path, options);
    return `${method} ${path} ${status}`;
  }

  #catchUp(): void {
    const { history } = this.#options;
    for (; this.#read < history.length; this.#read++) {
      const entry = history[this.#read];
      const object = entry?.after ?? entry?.before;
      if (entry === undefined || object === undefined || !(entry.resource in groups)) continue;
      const key = keyOf(entry.resource, object.metadata.namespace, object.metadata.name);
      if (entry.after === undefined) this.#present.delete(key);
      else this.#present.set(key, { plural: entry.resource, object: entry.after });
    }
  }
}

function keyOf(plural: string, namespace = "", name: string): string {
  return `${plural}/${namespace}/${name}`;
}

function pathOf(plural: string, namespace?: string, name?: string): string {
  const where = namespace === undefined ? "" : `/namespaces/${namespace}`;
  return `${groups[plural]}${where}/${plural}${name === undefined ? "" : `/${name}`}`;
}
