import type { Reporter, TestModule } from "vitest/node";

/** The number of files that the report of a run names. */
const named = 10;

/** Prints the slowest files after a run: the time that each took, its work, and the control planes that it started. */
export class CostReporter implements Reporter {
  readonly #after: string | undefined;

  /** `after` is a text at the end. */
  constructor(after: string | undefined) {
    this.#after = after;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows = modules.map((module) => {
      const { duration, collectDuration, setupDuration } = module.diagnostic();
      const { seconds = 0, controlPlanes = 0 } = module.meta().cost ?? {};
      return {
        file: module.relativeModuleId,
        took: (duration + collectDuration + setupDuration) / 1000,
        seconds,
        controlPlanes,
      };
    });
    const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + of(row), 0);
    const line = (took: number, work: number, planes: number, name: string) =>
      `${took.toFixed(1).padStart(8)} ${work.toFixed(1).padStart(8)} ${String(planes).padStart(7)}   ${name}\n`;
    const slowest = rows.toSorted((a, b) => b.took - a.took).slice(0, named);
    process.stdout.write(
      [
        "\n  TOOK s   WORK s  PLANES   SLOWEST FILES (control planes are those that a file starts itself)\n",
        ...slowest.map(({ file, took, seconds, controlPlanes }) => line(took, seconds, controlPlanes, file)),
        line(
          sum(({ took }) => took),
          sum(({ seconds }) => seconds),
          sum(({ controlPlanes }) => controlPlanes),
          `all ${rows.length} files`,
        ),
        this.#after === undefined ? "" : `\n${this.#after}\n`,
      ].join(""),
    );
  }
}
