interface Folder {
  readonly inside: Map<string, Folder>;
  /** Whether a path that was added ends here. */
  ends: boolean;
}

/** Paths as lists of their segments. Adding one and asking for one cost its own segments, however many there are. */
export class PathTree {
  readonly #root: Folder = { inside: new Map(), ends: false };

  /** Adds a path, which may be there already. */
  add(path: readonly string[]): void {
    let at = this.#root;
    for (const segment of path) {
      const next = at.inside.get(segment) ?? { inside: new Map(), ends: false };
      at.inside.set(segment, next);
      at = next;
    }
    at.ends = true;
  }

  /** Whether a path is one of those that were added, lies inside one, or one lies inside it. */
  crosses(path: readonly string[]): boolean {
    let at = this.#root;
    for (const segment of path) {
      if (at.ends) return true;
      const next = at.inside.get(segment);
      if (next === undefined) return false;
      at = next;
    }
    return true;
  }

  /** The first segments of what was added, each once, in the order in which they came. */
  topNames(): readonly string[] {
    return [...this.#root.inside.keys()];
  }
}
