import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder of the temporary files of the unit tests. Vitest removes it after the run, so that no test must remove its own. */
export const unitFolder = join(tmpdir(), `wave-unit-${process.pid}`);

/** Creates the folder for one run. */
export function setup(): void {
  mkdirSync(unitFolder, { recursive: true });
}

/** Removes the folder with everything in it. */
export function teardown(): void {
  rmSync(unitFolder, { recursive: true, force: true });
}
