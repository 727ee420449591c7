// Sends requests as the ServiceAccount of the Pod. The templates insert this file before the script of a hook.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import https from "node:https";
import { text } from "node:stream/consumers";

const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, CA_FILE, TOKEN_FILE } = process.env;
const account = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Sends a request and returns the object; undefined if it does not exist. */
// biome-ignore lint/correctness/noUnusedVariables: the script after this file calls the function
async function request(method, path, body) {
  const sent = https.request({
    ...{ host, port, method, path, ca: readFileSync(CA_FILE ?? `${account}/ca.crt`) },
    // As in client-go, the file may have only an intermediate authority, or the certificate of the server.
    allowPartialTrustChain: true,
    headers: {
      authorization: `Bearer ${readFileSync(TOKEN_FILE ?? `${account}/token`, "utf8").trim()}`,
      ...(body && { "content-type": "application/merge-patch+json" }),
    },
  });
  sent.end(body && JSON.stringify(body));
  const [response] = await once(sent, "response");
  const answer = await text(response);
  if (response.statusCode === 404) return undefined;
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode}`);
  return JSON.parse(answer);
}
