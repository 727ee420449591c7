import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { generatedTypes } from "./api-types.ts";
import { controlPlaneFolder, startControlPlane } from "./control-plane.ts";

const plane = await startControlPlane({ workloads: false });
try {
  const files = await generatedTypes(join(controlPlaneFolder(), "kubectl"), plane.kubeconfig);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(import.meta.dirname, "../../types", name), text);
} finally {
  await plane.stop();
}
