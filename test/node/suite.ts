import { afterAll, beforeAll, describe, inject } from "vitest";
import { type RealNode, startNode } from "./node.ts";

/**
 * A suite on a real node of its own, which `node` answers once the suite runs. The node has Wave's image and `images`. Where this machine can
 * run none it is left out, which the run has said (see global-setup.ts).
 */
export function describeOnNode(
  title: string,
  body: (node: () => RealNode) => void,
  images: readonly string[] = [],
): void {
  const image = inject("waveImage");
  if (image === undefined) {
    describe.skip(`${title} (no real node here)`);
    return;
  }
  describe(`on a real node, ${title}`, () => {
    let node: RealNode | undefined;
    beforeAll(async () => {
      node = await startNode(image.file, ...images);
    });
    afterAll(async () => {
      await node?.stop();
    });
    body(() => {
      if (node === undefined) throw new Error("the node has not started");
      return node;
    });
  });
}
