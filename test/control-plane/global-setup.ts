import type { TestProject } from "vitest/node";
import { type ControlPlane, missingControlPlane, startControlPlane } from "./control-plane.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Undefined if this machine has no control plane: its suites are then skipped, with a message. */
    controlPlane: { kubeconfig: string; auditLog: string } | undefined;
  }
}

/** Starts one control plane for all suites and provides its address. In CI a missing control plane is an error. */
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
