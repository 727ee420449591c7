import { existsSync } from "node:fs";
import { join } from "node:path";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";

/** Undefined if the libraries of the tools are built; otherwise one line with the command that builds them. */
export function missingTools(): string | undefined {
  const missing = ["argo-cd-diff", "flux-diff", "argo-cd-health"].filter(
    (name) => !existsSync(join(controlPlaneFolder(), name)),
  );
  return missing.length === 0 ? undefined : `${missing.join(", ")} missing; test/gitops/install builds it`;
}
