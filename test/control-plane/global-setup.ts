import type { TestProject } from "vitest/node";
import { type ControlPlane, missingControlPlane, startControlPlane } from "./control-plane.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Undefined where this machine has no control plane: its suites then say so and are left out. */
    controlPlane: { kubeconfig: string; auditLog: string } | undefined;
  }
}

/** Starts one control plane for all suites and tells them where it is. In CI a missing one is an error. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const missing = missingControlPlane();
  if (missing !== undefined) {
    if (process.env.CI) throw new Error(missing);
    process.stderr.write(`left out: every test on a real control plane. ${missing}\n`);
    project.provide("controlPlane", undefined);
    return async () => {};
  }
  const controlPlane: ControlPlane = await startControlPlane();
  project.provide("controlPlane", { kubeconfig: controlPlane.kubeconfig, auditLog: controlPlane.auditLog });
  return controlPlane.stop;
}
