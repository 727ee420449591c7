interface PathNode {
  readonly children: Map<string, PathNode>;
  /** Whether an added path ends at this segment. */
  ends: boolean;
}

/** A set of paths, each a list of segments. Adding and finding a path take time in proportion to its own segments only. */
export class PathTree {
  readonly #root: PathNode = { children: new Map(), ends: false };

  /** Adds a path. No-op if the tree already has it. */
  add(path: readonly string[]): void {
    let at = this.#root;
    for (const segment of path) {
      const next = at.children.get(segment) ?? { children: new Map(), ends: false };
      at.children.set(segment, next);
      at = next;
    }
    at.ends = true;
  }

  /** Reports whether a path equals an added path, lies inside one, or contains one. */
  crosses(path: readonly string[]): boolean {
    let at = this.#root;
    for (const segment of path) {
      if (at.ends) return true;
      const next = at.children.get(segment);
      if (next === undefined) return false;
      at = next;
    }
    return true;
  }

  /** Returns the distinct first segments of the added paths, in the order in which they were added. */
  topNames(): readonly string[] {
    return [...this.#root.children.keys()];
  }
}
