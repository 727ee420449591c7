/** What people do to a pinned workload. */
export type Step =
  | { readonly act: "edit"; readonly page: string }
  | { readonly act: "image"; readonly image: string }
  | { readonly act: "hold" | "release" | "undo" | "replace" };

/** A pod template, as far as it differs from others. */
interface Template {
  readonly page: string;
  readonly image: string;
}

/**
 * A model of what the Pods of a pinned workload read after each step, when Wave has rolled all that it may roll. It shares no code with Wave.
 */
export class PinningModel {
  /** The page in the live ConfigMap. */
  live: string;
  held = false;
  /** The live page that an undo has rolled back; undefined if there is none. */
  rejected: string | undefined;
  /** The templates that the workload has had, each once, the current one last. */
  readonly #templates: Template[];

  constructor(first: Template) {
    this.live = first.page;
    this.#templates = [first];
  }

  /** The template that the Pods have. */
  get current(): Template {
    const last = this.#templates.at(-1);
    if (last === undefined) throw new Error("a workload has a template");
    return last;
  }

  /** Reports whether `kubectl rollout undo` has a revision to return to. */
  get canUndo(): boolean {
    return this.#templates.length > 1;
  }

  /** Reports whether an undo returns to a page that is neither the current page nor the live page. */
  get undoReturns(): boolean {
    const before = this.#templates.at(-2);
    return before !== undefined && before.page !== this.current.page && before.page !== this.live;
  }

  /** Changes the model as the step changes the workload. */
  take(step: Step): void {
    switch (step.act) {
      case "edit":
        this.live = step.page;
        break;
      case "image":
        this.#become({ ...this.current, image: step.image });
        break;
      case "hold":
        this.held = true;
        break;
      case "release":
        this.held = false;
        break;
      case "undo": {
        if (this.undoReturns) this.rejected = this.live;
        const before = this.#templates.at(-2);
        if (before === undefined) throw new Error("there is no earlier revision");
        this.#become(before);
        break;
      }
      case "replace":
        break;
    }
    if (this.held || this.rejected === this.live || this.current.page === this.live) return;
    // A rollout forgets what was rejected, because something else is live.
    this.rejected = undefined;
    this.#become({ ...this.current, page: this.live });
  }

  #become(template: Template): void {
    const isSame = (other: Template) => other.page === template.page && other.image === template.image;
    const index = this.#templates.findIndex(isSame);
    if (index >= 0) this.#templates.splice(index, 1);
    this.#templates.push(template);
  }
}
