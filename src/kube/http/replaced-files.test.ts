import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { kubeconfigOf, temporaryFiles } from "../../../test/support/kube/files.ts";
import { makeCertificates, serveHttp2 } from "../../../test/support/kube/server.ts";
import { ClusterConfigError } from "../api/api-failure.ts";
import { fileLifeMs } from "../config/credentials.ts";
import { loadKubeconfig } from "../config/kubeconfig.ts";
import { createApiClient } from "./client.ts";

const certificates = makeCertificates();
const [a, b] = [certificates.client("a"), certificates.client("b")];

/** A server that responds with the user of the client certificate, and a client whose certificates and key are files of user a. */
async function start(statusFor: (user: string) => number = () => 200) {
  const server = await serveHttp2({ ...certificates.server, ca: certificates.ca, requestCert: true });
  server.server.on("stream", (stream) => {
    const user = (stream.session?.socket as TLSSocket | undefined)?.getPeerCertificate().subject.CN;
    stream.respond({ ":status": statusFor(String(user)) });
    stream.end(JSON.stringify(user));
  });
  const files = { "certificate-authority": "ca.crt", "client-certificate": "tls.crt", "client-key": "tls.key" };
  const config = kubeconfigOf({ cluster: { ...files, server: `https://127.0.0.1:${server.port}` }, user: files });
  const folder = await temporaryFiles({ config, "ca.crt": certificates.ca, "tls.crt": a.cert, "tls.key": a.key });
  const clock = new FakeClock();
  const context = { context: undefined, env: {}, interactive: false, clock };
  const cluster = await loadKubeconfig([join(folder, "config")], context);
  if (cluster === undefined) throw new Error("no kubeconfig");
  const client = createApiClient({ config: cluster, clock, userAgent: "wave/test" });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  return {
    ...{ server: server.server, sockets: server.sockets, clock, client },
    get: () => client.request({ method: "GET", path: "/" }),
    write: (name: string, content: string) => writeFile(join(folder, name), content),
  };
}

it("uses a client certificate and key that another program has replaced, for every request after a minute", async () => {
  const { clock, client, get, write } = await start();
  expect(await get()).toBe("a");
  await write("tls.crt", b.cert);
  // The program is between the two files.
  await clock.advance(fileLifeMs);
  expect(await get()).toBe("a");
  await write("tls.key", b.key);
  await clock.advance(fileLifeMs - 1);
  expect(await get()).toBe("a");
  await clock.advance(1);
  expect(await get()).toBe("b");
  await using stream = await client.stream({ method: "GET", path: "/" });
  for await (const chunk of stream) expect(String(chunk)).toBe('"b"');
});

it("reads the files again at once when the server refuses the certificate, and reports files that do not belong together", async () => {
  const { get, write } = await start((user) => (user === "a" ? 401 : 200));
  await expect(get()).rejects.toMatchObject({ name: "ApiError", status: 401 });
  await write("tls.crt", b.cert);
  await expect(get()).rejects.toThrow(ClusterConfigError);
  await expect(get()).rejects.toThrow(
    /config: users\[dev\]\.user\.client-key does not belong to the client certificate/,
  );
  await write("tls.key", b.key);
  expect(await get()).toBe("b");
});

it("trusts a certificate authority that has replaced another one, after a minute", async () => {
  const { server, sockets, clock, get, write } = await start();
  expect(await get()).toBe("a");
  const other = makeCertificates();
  server.setSecureContext({ ...other.server, ca: certificates.ca });
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => get().catch(String)).toMatch(/certificate/);
  await write("ca.crt", "");
  await clock.advance(fileLifeMs);
  await expect(get()).rejects.toThrow(/certificate/);
  await write("ca.crt", other.ca);
  await clock.advance(fileLifeMs);
  expect(await get()).toBe("a");
});
