import { describe, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { container, makeNamespace, workload } from "../end-to-end/objects.ts";
import { differs, tools } from "./drift.ts";
import { missingTools } from "./missing-tools.ts";

const missing = missingTools();

/** The fields that the other controllers of docs/comparison.md write into a pod template. */
const written = {
  "wave-in-go": { metadata: { annotations: { "wave.pusher.com/config-hash": "0c0ffee" } } },
  "pod-reloader": { metadata: { annotations: { "pod-reloader.cs.sap.com/config-hash": "0c0ffee" } } },
  "reloader-annotations": { metadata: { annotations: { "reloader.stakater.com/last-reloaded-from": "{}" } } },
  "reloader-env-vars": {
    spec: { containers: [{ name: container.name, env: [{ name: "STAKATER_PAGE_CONFIGMAP", value: "0c0ffee" }] }] },
  },
};

describe.skipIf(missing !== undefined)(`drift${missing === undefined ? "" : ` (${missing})`}`, () => {
  describeOnControlPlane("for tools of GitOps", (cluster) => {
    it.for(tools.map((tool, index) => ({ ...tool, index })))(
      "$tool: writes of other controllers cause no drift either, next to the variables of the manifest",
      async (tool) => {
        const ns = `gitops-others-${tool.index}`;
        await makeNamespace(cluster, ns);
        for (const [name, template] of Object.entries(written)) {
          const object = workload(name, { containers: [{ ...container, env: [{ name: "A", value: "b" }] }] });
          Object.assign(object.metadata, { namespace: ns });
          await cluster.kubectl([...tool.apply, "-f", "-"], JSON.stringify(object));
          const patch = JSON.stringify({ spec: { template } });
          await cluster.kubectl(["-n", ns, "patch", "deployment", name, "--field-manager=other", "-p", patch]);
          expect(await differs(cluster, tool, object), name).toBe("in sync");
        }
      },
    );
  });
});
