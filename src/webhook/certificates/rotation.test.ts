import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { Agent, request } from "node:https";
import { afterEach, describe, expect, it } from "vitest";
import { randomFrom } from "../../../test/simulation/dice.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { MemoryApi } from "../../../test/support/memory-api.ts";
import { playedSeed } from "../../../test/support/played-seed.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import { systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { type AdmissionServer, serveAdmission } from "../server/server.ts";
import { authoritySecret, type Lifetimes } from "./authority.ts";
import { runCertificateLoop, type ServingConfig } from "./certificate-loop.ts";
import { type NewConfiguration, webhookConfiguration } from "./configuration.ts";
import { ownCertificates } from "./own-certificates.ts";
import { readBundle } from "./pem.ts";
import { installedRegistration } from "./registration.ts";

const minute = 60_000;
const hour = 60 * minute;
const lifetimes: Lifetimes = { authorityMs: 24 * hour, servingMs: 6 * hour, overlapMs: hour, holdMs: minute / 2 };
const service = { namespace: "wave", name: "wave-webhook" };
const configurations = resourcePath(resources.mutatingWebhookConfigurations);
const host = "wave-webhook.wave.svc";
const review = JSON.stringify({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", request: { uid: "u" } });

/** A server with certificates of the loop. */
interface Replica {
  readonly port: number;
  readonly clock: FakeClock;
  readonly certificates: Set<string>;
  readonly stop: () => Promise<void>;
}

const random = randomFrom(playedSeed());

const running = new Set<Replica>();
afterEach(async () => {
  await Promise.all([...running].map((replica) => replica.stop()));
  running.clear();
});

/** Starts a replica and resolves when it serves. */
async function startReplica(api: MemoryApi, clock: FakeClock): Promise<Replica> {
  const stop = new AbortController();
  const certificates = new Set<string>();
  const listening = Promise.withResolvers<AdmissionServer>();
  let server: AdmissionServer | undefined;
  const serve = async (served: ServingConfig) => {
    certificates.add(served.certificate);
    if (server) return server.serve(served);
    const allow = async () => ({ patch: undefined, warnings: [] });
    server = await serveAdmission({
      address: "127.0.0.1:0",
      served,
      review: allow,
      // The connections are real.
      clock: systemClock,
      log: silentLogger,
      metrics: new MetricsRegistry(),
    });
    listening.resolve(server);
  };
  const source = ownCertificates({
    secret: authoritySecret(api, { namespace: "wave", name: "wave-webhook-authority" }),
    registration: installedRegistration(api, service),
    hosts: [host],
    lifetimes,
    clock,
    log: silentLogger,
  });
  const options = { source, serve, clock, log: silentLogger, random, onState: () => {} };
  const kept = runCertificateLoop({ ...options, changes: [api.changes(stop.signal)] }, stop.signal);
  const { port } = await listening.promise;
  const replica = {
    port,
    clock,
    certificates,
    stop: async () => {
      stop.abort();
      await kept;
      await server?.close();
    },
  };
  running.add(replica);
  return replica;
}

async function install(api: MemoryApi): Promise<void> {
  const body = webhookConfiguration({ name: service.name, clientConfig: { service }, namespaces: undefined });
  await api.request({ method: "POST", path: configurations, body });
}

/** Returns the current caBundle. */
function published(api: MemoryApi): string {
  const object = api.objects.get(`${configurations}/${service.name}`) as NewConfiguration | undefined;
  return Buffer.from(object?.webhooks[0]?.clientConfig.caBundle ?? "", "base64").toString();
}

/** Returns the currently registered path. */
function calledPath(api: MemoryApi): string {
  const object = api.objects.get(`${configurations}/${service.name}`) as NewConfiguration | undefined;
  return object?.webhooks[0]?.clientConfig.service?.path ?? "/";
}

/** Reports whether one of `ca` signed the certificate of a server and it is valid now. TLS itself uses only the real clock. */
function isTrusted(peer: X509Certificate | undefined, ca: string, now: number): boolean {
  const authorities = readBundle(ca).map(({ pem }) => new X509Certificate(pem));
  const issuer = authorities.find((authority) => peer?.checkIssued(authority) && peer.verify(authority.publicKey));
  const valid = (one: X509Certificate | undefined) =>
    one !== undefined && one.validFromDate.getTime() <= now && now < one.validToDate.getTime();
  return valid(peer) && valid(issuer) && peer?.checkHost(host) !== undefined;
}

/** Sends one review on a new connection, or one of the agent, that trusts exactly `ca`. */
async function call(
  { port, clock }: Replica,
  path: string,
  ca: string,
  agent: Agent | false = false,
): Promise<number | undefined> {
  const headers = { "Content-Type": "application/json" };
  const sent = request({
    host: "127.0.0.1",
    port,
    servername: host,
    // Below, for the clock of the test.
    rejectUnauthorized: false,
    agent,
    method: "POST",
    path,
    headers,
  });
  const now = clock.wall();
  sent.end(review);
  const [response] = await once(sent, "response");
  if (agent === false) expect(isTrusted(response.socket.getPeerX509Certificate(), ca, now)).toBe(true);
  response.resume();
  await once(response, "end");
  return response.statusCode;
}

describe("rotation", () => {
  it("of authorities and certificates over days fails no review on new or existing connections", async () => {
    const api = new MemoryApi();
    const clock = new FakeClock();
    await install(api);
    const replicas = [await startReplica(api, clock), await startReplica(api, clock)];
    await clock.advance(0);
    const agents = replicas.map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
    const authorities = new Set<string>();
    const paths = new Set<string>();
    for (let time = 0; time < 2 * 24 * hour; time += 20 * minute) {
      const calls = replicas.flatMap((replica, index) => [
        call(replica, calledPath(api), published(api)),
        call(replica, calledPath(api), published(api), agents[index]),
      ]);
      await clock.advance(20 * minute);
      expect(await Promise.all(calls)).toEqual(Array(4).fill(200));
      authorities.add(published(api).slice(0, 500));
      paths.add(calledPath(api));
    }
    expect(authorities.size).toBeGreaterThan(2);
    expect(paths.size).toBeGreaterThan(2);
    // A path that was registered long ago is rejected.
    const [oldest = ""] = paths;
    for (const replica of replicas) expect(await call(replica, oldest, published(api))).toBe(404);
    for (const { certificates } of replicas) expect(certificates.size).toBeGreaterThan(7);
    for (const agent of agents) {
      expect(Object.values(agent.freeSockets).flat()).toHaveLength(1);
      agent.destroy();
    }
  });

  it("starts at once when a machine resumes long after everything has expired", async () => {
    const api = new MemoryApi();
    const clock = new FakeClock();
    clock.jumpWall(-1000 * 24 * hour);
    await install(api);
    const replica = await startReplica(api, clock);
    await clock.advance(0);
    const before = published(api);
    clock.jumpWall(1000 * 24 * hour);
    await clock.advance(minute);
    expect(published(api)).not.toBe(before);
    expect(replica.certificates.size).toBe(2);
    expect(await call(replica, calledPath(api), published(api).slice(0, published(api).indexOf("-----END") + 26))).toBe(
      200,
    );
  });

  it("continues without a failure after the Secret was deleted, with one authority for all replicas", async () => {
    const api = new MemoryApi();
    const clock = new FakeClock();
    await install(api);
    const replicas = [await startReplica(api, clock), await startReplica(api, clock), await startReplica(api, clock)];
    await clock.advance(0);
    const old = published(api);
    await api.request({
      method: "DELETE",
      path: resourcePath(resources.secrets, { namespace: "wave", name: "wave-webhook-authority" }),
    });
    for (let seconds = 0; seconds < 60; seconds += 5) {
      expect(await Promise.all(replicas.map((replica) => call(replica, calledPath(api), published(api))))).toEqual([
        200, 200, 200,
      ]);
      await clock.advance(5000);
    }
    expect(published(api)).toContain(old);
    expect(published(api).match(/BEGIN/g)).toHaveLength(2);
    expect(api.writes.filter((write) => write.startsWith("POST /api/v1"))).toHaveLength(2);
    const [current = ""] = published(api).split(/(?<=-----END CERTIFICATE-----\n)/);
    for (const replica of replicas) expect(await call(replica, calledPath(api), current)).toBe(200);
  });
});
