/** What is told of the objects of one namespace by a list of its own, beside the watch. */
export interface Beside {
  /** Whether an object of this name may be taken from it: the watch has told nothing of that since, and begun no list. */
  readonly isNews: (name: string) => boolean;
  /** It is over. */
  readonly end: () => void;
}

/** The lists beside one watch that are under way: what the watch tells meanwhile counts, and they do not. */
export class BesideLists {
  readonly #underWay = new Set<{ readonly namespace: string; readonly told: Set<string>; isVoid: boolean }>();

  /** Begins one of a namespace. */
  begin(namespace: string): Beside {
    const beside = { namespace, told: new Set<string>(), isVoid: false };
    this.#underWay.add(beside);
    return {
      isNews: (name) => !(beside.isVoid || beside.told.has(name)),
      end: () => void this.#underWay.delete(beside),
    };
  }

  /** The watch tells of an object. */
  told(namespace: string, name: string): void {
    for (const beside of this.#underWay) if (beside.namespace === namespace) beside.told.add(name);
  }

  /** The watch begins to list all anew. */
  makeVoid(): void {
    for (const beside of this.#underWay) beside.isVoid = true;
  }
}
