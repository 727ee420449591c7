import type { TestProject } from "vitest/node";
import { type ControlPlane, missingControlPlane, startControlPlane } from "./control-plane.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Undefined if this machine has no control plane: its suites are then skipped, with a message. */
    controlPlane: { kubeconfig: string; auditLog: string } | undefined;
  }
}

/** Starts one control plane for all suites and provides its address, if this machine has one. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (missingControlPlane() !== undefined) {
    project.provide("controlPlane", undefined);
    return async () => {};
  }
  const controlPlane: ControlPlane = await startControlPlane();
  project.provide("controlPlane", { kubeconfig: controlPlane.kubeconfig, auditLog: controlPlane.auditLog });
  return controlPlane.stop;
}
