import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { missingControlPlane } from "../control-plane/control-plane.ts";
import { makeImage, missingNode } from "./node.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Wave's image as a file, and its digest. Undefined where this machine can run no node: its suites are then left out. */
    waveImage: { readonly file: string; readonly digest: string } | undefined;
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
  project.provide("waveImage", { file, digest: await makeImage(file) });
  return () => rmSync(folder, { recursive: true });
}
