import { X509Certificate } from "node:crypto";
import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { MemoryApi } from "../../../test/support/memory-api.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { authoritySecret, type Lifetimes } from "./authority.ts";
import type { CertificateSource, ServingConfig } from "./certificate-loop.ts";
import { webhookConfiguration } from "./configuration.ts";
import { ownCertificates } from "./own-certificates.ts";
import { carriesToken, pathWith, tokenIn } from "./path-token.ts";
import { installedRegistration } from "./registration.ts";

const second = 1000;
const lifetimes: Lifetimes = {
  authorityMs: 1200 * second,
  servingMs: 300 * second,
  overlapMs: 60 * second,
  holdMs: 20 * second,
};
/** How long an API server may go on by the registration that it knew before. */
const lag = 15 * second;

const service = { namespace: "wave", name: "wave-webhook" };
const secretPath = resourcePath(resources.secrets, { namespace: "wave", name: "wave-webhook-authority" });
const configurations = resourcePath(resources.mutatingWebhookConfigurations);
const configurationPath = `${configurations}/wave-webhook`;

interface Replica {
  readonly clock: FakeClock;
  source: CertificateSource;
  /** The time from which every API server must trust the certificate: a replica that starts just after the creation cannot wait. */
  knownSince: number;
  served: ServingConfig | undefined;
  ready: boolean;
  due: number;
}

/** Replicas with clocks of their own that keep one Secret and one registration, and an API server that calls them. */
class Cluster {
  readonly api = new MemoryApi();
  readonly replicas: Replica[] = [];
  readonly authorities = new Set<string>();
  readonly paths = new Set<string>();
  now = 0;
  /** When the authority was last created without a predecessor, so that no client could trust it earlier. */
  #created = 0;
  /** What the API server trusted and called, from when on. */
  readonly #registered: { readonly since: number; readonly pem: string; readonly token: string | undefined }[] = [];
  #installed: string | undefined;

  async install(): Promise<void> {
    const clientConfig = { service };
    const body = webhookConfiguration({ name: service.name, clientConfig, namespaces: undefined });
    await this.api.request({ method: "POST", path: configurations, body });
    this.#installed = JSON.stringify(this.#configuration()?.webhooks);
    this.api.onWrite = () => {
      if (this.api.writes.at(-1)?.startsWith("POST")) this.#created = this.now;
      this.check();
    };
  }

  start(replica = this.#add()): void {
    replica.source = ownCertificates({
      secret: authoritySecret(this.api, { namespace: "wave", name: "wave-webhook-authority" }),
      registration: installedRegistration(this.api, service),
      hosts: ["wave-webhook.wave.svc"],
      lifetimes,
      clock: replica.clock,
      log: silentLogger,
    });
    Object.assign(replica, { knownSince: -1, served: undefined, ready: false, due: 0 });
  }

  /** Lets all due replicas reconcile concurrently until none is due. */
  async settle(): Promise<void> {
    await Promise.all(
      this.replicas.map(async (replica) => {
        for (let tries = 0; replica.due <= replica.clock.monotonic(); tries++) {
          expect(tries, "endless reconciles").toBeLessThan(50);
          try {
            const due = await replica.source.reconcile(new AbortController().signal, async (served) => {
              const justCreated = this.#created + lag >= this.now;
              if (replica.served === undefined && justCreated) replica.knownSince = this.now + lag;
              replica.served = served;
            });
            replica.ready = true;
            replica.due = replica.clock.monotonic() + due;
          } catch (error) {
            if (!(error instanceof Error && "status" in error)) throw error;
          }
        }
      }),
    );
    this.check();
  }

  /** Applies another copy of the registration, as tools do. Calls reach no path of Wave until Wave corrects it. */
  async reset(what: "path" | "all"): Promise<void> {
    const webhooks = what === "all" ? this.#installed : undefined;
    const body = webhooks
      ? [{ op: "replace", path: "/webhooks", value: JSON.parse(webhooks) }]
      : [{ op: "add", path: "/webhooks/0/clientConfig/service/path", value: "/mutate" }];
    const pause = this.api.pause;
    this.api.pause = async () => {};
    await this.api.request({ method: "PATCH", path: configurationPath, body });
    this.api.pause = pause;
    this.wakeAll();
  }

  registeredToken(): string | undefined {
    return tokenIn(this.#configuration()?.webhooks[0]?.clientConfig ?? {});
  }

  #configuration(): ReturnType<typeof webhookConfiguration> | undefined {
    return this.api.objects.get(configurationPath) as ReturnType<typeof webhookConfiguration> | undefined;
  }

  /** Makes all replicas reconcile at once, as after a change. */
  wakeAll(): void {
    for (const replica of this.replicas) replica.due = 0;
  }

  async advance(ms: number): Promise<void> {
    this.now += ms;
    for (const { clock } of this.replicas) await clock.advance(ms);
  }

  /**
   * Checks that every certificate presented to a client is valid and trusted by the caBundle that the client uses, and that
   * the path it calls is answered. A write of another client is corrected by the end of the reconcile.
   */
  check(): void {
    const { caBundle, ...clientConfig } = this.#configuration()?.webhooks[0]?.clientConfig ?? {};
    const pem = Buffer.from(caBundle ?? "", "base64").toString();
    const token = tokenIn(clientConfig);
    if (token !== undefined) this.paths.add(token);
    const last = this.#registered.at(-1);
    if (last?.pem !== pem || last.token !== token) this.#registered.push({ since: this.now, pem, token });
    for (const { served, ready, knownSince, clock } of this.replicas) {
      if (!ready || served === undefined) continue;
      const certificate = parse(served.certificate);
      expect(certificate.validToDate.getTime()).toBeGreaterThan(clock.wall());
      const goneBy = this.#registered.filter(
        (_, index) => (this.#registered[index + 1]?.since ?? this.now) > this.now - lag,
      );
      for (const registered of knownSince < this.now ? goneBy : this.#registered.slice(-1)) {
        if (registered.token === undefined) continue; // not written by Wave
        const issuer = issuerAmong(registered.pem, certificate);
        expect(issuer, "a served certificate is not trusted").toBeDefined();
        if (issuer) this.authorities.add(issuer);
        const answered = carriesToken(pathWith(registered.token), served.tokens);
        expect(answered, "a registered path is rejected").toBe(true);
      }
    }
  }

  #add(): Replica {
    const replica: Replica = {
      clock: new FakeClock(),
      source: { reconcile: () => Promise.reject(new Error("not started")) },
      knownSince: -1,
      served: undefined,
      ready: false,
      due: 0,
    };
    this.replicas.push(replica);
    return replica;
  }
}

const parsed = new Map<string, X509Certificate>();
function parse(pem: string): X509Certificate {
  const certificate = parsed.get(pem) ?? new X509Certificate(pem);
  parsed.set(pem, certificate);
  return certificate;
}

/** Returns the fingerprint of the authority in a bundle that signed the certificate; undefined if it is missing. */
function issuerAmong(bundle: string, certificate: X509Certificate): string | undefined {
  const blocks = bundle.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? [];
  const issuer = blocks.map(parse).find((one) => certificate.checkIssued(one));
  return issuer !== undefined && certificate.verify(issuer.publicKey) ? issuer.fingerprint256 : undefined;
}

const event = fc.oneof(
  { weight: 20, arbitrary: fc.record({ do: fc.constant("wait" as const), seconds: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("restart" as const), replica: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete the Secret" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reset" as const), what: fc.constantFrom("path", "all") }) },
);

describe("own certificates", () => {
  it("are always trusted by the API server, and the registered path is always answered, whatever replicas do concurrently", async () => {
    let rotations = 0;
    let paths = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: 150, maxLength: 250, size: "max" }),
        fc.array(fc.nat({ max: 3 }), { minLength: 50, maxLength: 50 }),
        fc.array(fc.integer({ min: -90, max: 90 }), { minLength: 3, maxLength: 3 }),
        async (events, pauses, skews) => {
          const cluster = new Cluster();
          let request = 0;
          cluster.api.pause = async () => {
            for (let permits = pauses[request++ % pauses.length] ?? 0; permits > 0; permits--) await null;
          };
          await cluster.install();
          for (const skew of skews) {
            cluster.start();
            cluster.replicas.at(-1)?.clock.jumpWall(skew * second);
          }
          await cluster.settle();
          for (const happening of events) {
            const replica = happening.do === "restart" ? cluster.replicas[happening.replica] : undefined;
            if (happening.do === "wait") await cluster.advance(happening.seconds * second);
            if (replica) cluster.start(replica);
            if (happening.do === "reset") await cluster.reset(happening.what);
            if (happening.do === "delete the Secret" && cluster.api.objects.delete(secretPath)) cluster.wakeAll();
            const writes = cluster.api.writes.length;
            await cluster.settle();
            if (cluster.api.writes.length > writes) {
              cluster.wakeAll();
              await cluster.settle();
            }
          }
          rotations = Math.max(rotations, cluster.authorities.size);
          paths = Math.max(paths, cluster.paths.size);
          expect(cluster.registeredToken(), "the path is not put right").toBeDefined();
        },
      ),
      { numRuns: inject("everything") ? 20 : 4, endOnFailure: true },
    );
    // The property is about rotations, so there must have been some.
    expect(rotations).toBeGreaterThan(2);
    expect(paths).toBeGreaterThan(2);
  });
});
