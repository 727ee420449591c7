import { afterAll, beforeAll, describe, inject } from "vitest";
import { type Cluster, connect } from "./cluster.ts";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";

/**
 * Describes a suite on the real control plane. If this machine has no control plane, the suite is skipped, and the run
 * reports this in its first line (see global-setup.ts).
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

/**
 * Describes a suite on a separate control plane, with Pods. Use it for tests of the whole cluster, because other suites
 * install Wave at the same time. `body` can use its argument from its own `beforeAll` on.
 */
export function describeOnOwnControlPlane(title: string, body: (cluster: Cluster) => void): void {
  describeOnControlPlane(title, () => {
    const cluster = {} as Cluster;
    let plane: ControlPlane | undefined;
    beforeAll(async () => {
      plane = await startControlPlane();
      Object.assign(cluster, connect(plane));
    });
    afterAll(async () => {
      if (plane === undefined) return;
      cluster.close();
      await plane.stop();
    });
    body(cluster);
  });
}
