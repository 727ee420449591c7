import { resourcePath, resources } from "../src/kube/api/resources.ts";
import { startWave } from "../test/control-plane/wave-process.ts";
import { createDeployment, quantile, startPlane } from "./plane.ts";
import { watchHashes } from "./recorded-hashes.ts";

/** Milliseconds from the answer to an edit until a watch shows the patched Deployment. */
export interface LatencyFigures {
  readonly edits: number;
  readonly p50: number;
  readonly p99: number;
}

const namespace = "latency";

/** Edits a ConfigMap again and again, one edit at a time, with 100 other Deployments beside the one that reads it. */
export async function measureLatency(edits = 300): Promise<LatencyFigures> {
  const plane = await startPlane([namespace]);
  const { client } = plane;
  try {
    const create = (name: string) =>
      client.request({
        method: "POST",
        path: resourcePath(resources.configMaps, { namespace }),
        body: { metadata: { name }, data: { a: "0" } },
      });
    for (let index = 0; index <= 100; index++) {
      await create(`app-${index}`);
      await createDeployment(client, namespace, `app-${index}`, { configMap: `app-${index}` });
    }
    const hashes = await watchHashes(client, namespace);
    const first = hashes.changed(101);
    const wave = await startWave([`--kubeconfig=${plane.jsonKubeconfig}`, "--update-rate=unlimited"]);
    await first;
    const path = resourcePath(resources.configMaps, { namespace, name: "app-0" });
    const milliseconds: number[] = [];
    for (let edit = 1; edit <= edits + 50; edit++) {
      const patched = hashes.changed(1);
      const body = { data: { a: String(edit) } };
      const sent = performance.now();
      await client.request({ method: "PATCH", path, body });
      const answered = performance.now();
      const at = await patched;
      // The first ones warm up client, server and Wave. A watch may receive the change before the editor has its response.
      if (edit > 50) milliseconds.push(at - Math.min(answered, at > answered ? answered : sent));
    }
    hashes.stop();
    await wave.stop();
    return { edits, p50: quantile(milliseconds, 0.5), p99: quantile(milliseconds, 0.99) };
  } finally {
    await plane.stop();
  }
}
