import type { Config } from "../../domain/config/digest.ts";
import { outranks, type PodStatus } from "../../domain/config/pod-status.ts";
import { classConfig } from "../../domain/config/recorded-classes.ts";
import { configKey } from "../../domain/references/references.ts";
import type { StoreChange } from "../store/store.ts";

/** What all Pods that mount one class tell of it. */
interface Mounted {
  readonly config: Config;
  /** What is preferred to everything else that was told of it: so it does not go with the Pod that told it. */
  readonly best: PodStatus;
  /** How many Pods mount it. */
  readonly pods: number;
}

/**
 * What SecretProviderClasses fetch, as their Pods tell it one after another: of each class one value, which is that of the
 * latest rotation, whatever the order in which Pods are heard of and how many of them. So five Pods that report one rotation
 * are one change, and Pods that come and go are none. Nothing is left of a class that no Pod mounts any more.
 */
export class ProviderClasses {
  /** By namespace and name. */
  readonly #classes = new Map<string, Map<string, Mounted>>();
  readonly #onChange: (change: StoreChange<Config>) => void;

  /** `onChange` is told of each difference after it is held. */
  constructor(onChange: (change: StoreChange<Config>) => void) {
    this.#onChange = onChange;
  }

  /** What is known of a class; undefined where no Pod mounts it. */
  get(namespace: string, name: string): Config | undefined {
    return this.#classes.get(namespace)?.get(name)?.config;
  }

  /** Every class in a namespace of which something is known. */
  valuesIn(namespace: string): Iterable<Config> {
    const classes = this.#classes.get(namespace);
    return classes === undefined ? [] : classes.values().map(({ config }) => config);
  }

  /** How many classes are known. */
  get size(): number {
    return this.#classes.values().reduce((sum, { size }) => sum + size, 0);
  }

  /** To be told of each difference of what one Pod tells, in any order. Costs the same however many there are. */
  update({ before, after, initial }: Pick<StoreChange<PodStatus>, "before" | "after" | "initial">): void {
    if (after !== undefined && after.className !== "") this.#told(after, before, initial);
    if (before !== undefined && before.className !== after?.className) this.#gone(before, initial);
  }

  #told(status: PodStatus, before: PodStatus | undefined, initial: boolean): void {
    const { namespace, className: name } = status;
    const known = this.#classes.get(namespace)?.get(name);
    const pods = (known?.pods ?? 0) + (before?.className === name ? 0 : 1);
    const best = known === undefined || outranks(status, known.best) ? status : known.best;
    const isSame = known !== undefined && known.best.digest === best.digest && known.best.rotated === best.rotated;
    const { digest, rotated, writtenAt: since } = best;
    const config = isSame ? known.config : classConfig({ namespace, name }, { digest, since, rotated });
    this.#hold(namespace, name, { config, best, pods }, initial);
  }

  #gone({ namespace, className: name }: PodStatus, initial: boolean): void {
    const known = this.#classes.get(namespace)?.get(name);
    if (known === undefined) return;
    const pods = known.pods - 1;
    this.#hold(namespace, name, pods === 0 ? undefined : { ...known, pods }, initial);
  }

  #hold(namespace: string, name: string, after: Mounted | undefined, initial: boolean): void {
    const classes = this.#classes.get(namespace) ?? new Map<string, Mounted>();
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
