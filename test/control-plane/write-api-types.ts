import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { apiTypesOf } from "./api-types.ts";
import { controlPlaneFolder, startControlPlane } from "./control-plane.ts";

const plane = await startControlPlane({ workloads: false });
try {
  const types = await apiTypesOf(join(controlPlaneFolder(), "kubectl"), plane.kubeconfig);
  writeFileSync(join(import.meta.dirname, "../../types/kubernetes.d.ts"), types);
} finally {
  await plane.stop();
}
