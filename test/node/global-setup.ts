import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { missingControlPlane } from "../control-plane/control-plane.ts";
import { makeImage, missingNode } from "./node.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Wave's image as a file. Undefined where this machine can run no node: its suites then say so and are left out. */
    waveImage: string | undefined;
  }
}

/** Makes Wave's image, once for all suites on a real node. Where no node can run, the run says why in one line, also in CI. */
export async function setup(project: TestProject): Promise<() => void> {
  const missing = missingControlPlane() ?? missingNode();
  if (missing !== undefined) {
    process.stderr.write(`left out: every test on a real node. ${missing}\n`);
    project.provide("waveImage", undefined);
    return () => {};
  }
  const folder = mkdtempSync(join(tmpdir(), "wave-image-"));
  const file = join(folder, "wave.tar");
  await makeImage(file);
  project.provide("waveImage", file);
  return () => rmSync(folder, { recursive: true });
}
