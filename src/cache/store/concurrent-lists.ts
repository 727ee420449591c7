/** A list of one namespace that runs while the watch continues. */
export interface ConcurrentList {
  /** Reports whether an object may be taken from the list: the watch has sent no event for it and has begun no list since. */
  readonly isNewerThanWatch: (name: string) => boolean;
  /** Ends the list. */
  readonly end: () => void;
}

/** The lists that run while one watch continues. Events of the watch take precedence over these lists. */
export class ConcurrentLists {
  readonly #running = new Set<{ readonly namespace: string; readonly watched: Set<string>; isInvalid: boolean }>();

  /** Begins a list of one namespace. */
  begin(namespace: string): ConcurrentList {
    const list = { namespace, watched: new Set<string>(), isInvalid: false };
    this.#running.add(list);
    return {
      isNewerThanWatch: (name) => !(list.isInvalid || list.watched.has(name)),
      end: () => void this.#running.delete(list),
    };
  }

  /** Records that the watch sent an event for an object. */
  recordWatchEvent(namespace: string, name: string): void {
    for (const list of this.#running) if (list.namespace === namespace) list.watched.add(name);
  }

  /** Invalidates all lists, because the watch begins to list everything again. */
  invalidateAll(): void {
    for (const list of this.#running) list.isInvalid = true;
  }
}
