import { afterAll, describe, inject } from "vitest";
import { type Cluster, connect } from "./cluster.ts";

/**
 * A suite on the real control plane. Where this machine has none it is left out, which the run has said in its first
 * line (see global-setup.ts).
 */
export function describeOnControlPlane(title: string, body: (cluster: Cluster) => void): void {
  const controlPlane = inject("controlPlane");
  if (controlPlane === undefined) {
    describe.skip(`${title} (no control plane: test/control-plane/install builds it)`);
    return;
  }
  describe(`on a real control plane, ${title}`, () => {
    const cluster = connect(controlPlane);
    afterAll(() => cluster.close());
    body(cluster);
  });
}
