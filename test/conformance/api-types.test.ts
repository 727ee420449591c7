import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { generatedTypes } from "../control-plane/api-types.ts";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";

describeOnControlPlane("the files of types/", (cluster) => {
  it("match the output of write-api-types.ts for the OpenAPI of the API server", async () => {
    for (const [name, text] of Object.entries(
      await generatedTypes(join(controlPlaneFolder(), "kubectl"), cluster.kubeconfig),
    ))
      expect(text, name).toBe(readFileSync(join(import.meta.dirname, "../../types", name), "utf8"));
  });
});
