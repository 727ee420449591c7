import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { apiTypesOf } from "../control-plane/api-types.ts";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";

describeOnControlPlane("types/kubernetes.d.ts", (cluster) => {
  it("matches the output of write-api-types.ts for the OpenAPI of the API server", async () => {
    const types = await apiTypesOf(join(controlPlaneFolder(), "kubectl"), cluster.kubeconfig);
    expect(types).toBe(readFileSync(join(import.meta.dirname, "../../types/kubernetes.d.ts"), "utf8"));
  });
});
