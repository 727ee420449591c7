import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { missingControlPlane } from "../control-plane/control-plane.ts";
import { makeImage, missingNode } from "./node.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Wave's image as a file, and its digest. Undefined if this machine cannot run a node: the suites are then skipped. */
    waveImage: { readonly file: string; readonly digest: string } | undefined;
  }
}

/** Builds Wave's image once for all suites on a real node. */
export async function setup(project: TestProject): Promise<() => void> {
  if ((missingControlPlane() ?? missingNode()) !== undefined) {
    project.provide("waveImage", undefined);
    return () => {};
  }
  const folder = mkdtempSync(join(tmpdir(), "wave-image-"));
  const file = join(folder, "wave.tar");
  project.provide("waveImage", { file, digest: await makeImage(file) });
  return () => rmSync(folder, { recursive: true });
}
