import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createAuthority, issueServingCertificate } from "../../src/webhook/certificates/certificates.ts";
import type { Cluster } from "../control-plane/cluster.ts";

/**
 * Makes the only node, whose Pods kwok simulates, answer `kubectl logs` of any Pod with the result of `log`. The API server calls the
 * kubelet at the address of the node.
 */
export async function playKubelet(cluster: Cluster, log: () => string): Promise<AsyncDisposable> {
  const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 86_400_000 };
  const serving = issueServingCertificate(createAuthority("kubelet", validity), ["127.0.0.1"], validity);
  const server = createServer({ key: serving.key, cert: serving.certificate.pem }, ({ url = "" }, response) => {
    const isLogs = url.startsWith("/containerLogs/");
    response.writeHead(isLogs ? 200 : 404, { "content-type": "text/plain" }).end(isLogs ? log() : "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: Port } = server.address() as AddressInfo;
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port } },
  };
  await cluster.api("PATCH", "/api/v1/nodes/node-0/status", { status }, "application/merge-patch+json");
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
