import type { Config } from "../../domain/config/digest.ts";
import { outranks, type PodStatus } from "../../domain/config/pod-status.ts";
import { classConfig } from "../../domain/config/recorded-digests.ts";
import { configKey } from "../../domain/references/references.ts";
import type { StoreChange } from "../store/store.ts";

/** A class that at least one Pod mounts. */
interface MountedClass {
  readonly config: Config;
  /** The status that outranks all others. It stays when its Pod goes. */
  readonly best: PodStatus;
  readonly pods: number;
}

/**
 * The content of SecretProviderClasses, from the status objects of their Pods. Each class has one value, that of the latest
 * rotation, for any order and number of Pods. So five Pods that report one rotation are one change, and Pods that come and go
 * are no change. A class that no Pod mounts is removed.
 */
export class ProviderClasses {
  /** By namespace and name. */
  readonly #classes = new Map<string, Map<string, MountedClass>>();
  readonly #onChange: (change: StoreChange<Config>) => void;

  /** `onChange` receives each difference after it is stored. */
  constructor(onChange: (change: StoreChange<Config>) => void) {
    this.#onChange = onChange;
  }

  get(namespace: string, name: string): Config | undefined {
    return this.#classes.get(namespace)?.get(name)?.config;
  }

  valuesIn(namespace: string): Iterable<Config> {
    const classes = this.#classes.get(namespace);
    return classes === undefined ? [] : classes.values().map(({ config }) => config);
  }

  get size(): number {
    return this.#classes.values().reduce((sum, { size }) => sum + size, 0);
  }

  /** Applies a change of the status of one Pod, in any order. The cost does not depend on the number of Pods. */
  update({ before, after, initial }: Pick<StoreChange<PodStatus>, "before" | "after" | "initial">): void {
    if (after !== undefined && after.className !== "") this.#mounted(after, before, initial);
    if (before !== undefined && before.className !== after?.className) this.#unmounted(before, initial);
  }

  #mounted(status: PodStatus, before: PodStatus | undefined, initial: boolean): void {
    const { namespace, className: name } = status;
    const known = this.#classes.get(namespace)?.get(name);
    const pods = (known?.pods ?? 0) + (before?.className === name ? 0 : 1);
    const best = known === undefined || outranks(status, known.best) ? status : known.best;
    const isSame = known !== undefined && known.best.digest === best.digest && known.best.rotated === best.rotated;
    const { digest, rotated, writtenAt: since } = best;
    const config = isSame ? known.config : classConfig({ namespace, name }, { digest, since, rotated });
    this.#hold(namespace, name, { config, best, pods }, initial);
  }

  #unmounted({ namespace, className: name }: PodStatus, initial: boolean): void {
    const known = this.#classes.get(namespace)?.get(name);
    if (known === undefined) return;
    const pods = known.pods - 1;
    this.#hold(namespace, name, pods === 0 ? undefined : { ...known, pods }, initial);
  }

  #hold(namespace: string, name: string, after: MountedClass | undefined, initial: boolean): void {
    const classes = this.#classes.get(namespace) ?? new Map<string, MountedClass>();
    const before = classes.get(name)?.config;
    if (after === undefined) classes.delete(name);
    else classes.set(name, after);
    if (classes.size === 0) this.#classes.delete(namespace);
    else this.#classes.set(namespace, classes);
    if (before === after?.config) return;
    const key = configKey({ kind: "SecretProviderClass", namespace, name });
    this.#onChange({ key, before, after: after?.config, initial });
  }
}
