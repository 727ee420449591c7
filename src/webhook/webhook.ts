import { isDeepStrictEqual } from "node:util";
import type { WantedKind } from "../domain/model/kinds/requested-kind.ts";
import type { WorkloadRow } from "../domain/model/workload.ts";
import type { Lookup } from "../domain/plan/plan.ts";
import type { Policy } from "../domain/policy/policy.ts";
import { type Resource, resources } from "../kube/api/resources.ts";
import type { ApiClient } from "../kube/http/client.ts";
import { listWatch } from "../kube/list-watch/list-watch.ts";
import { type Clock, sleep } from "../lib/clock.ts";
import { admissionMetrics } from "../telemetry/catalogue/webhooks.ts";
import { errorText } from "../telemetry/logging/error-text.ts";
import type { Logger } from "../telemetry/logging/log.ts";
import type { MetricsRegistry } from "../telemetry/metrics/metrics.ts";
import { warnWhereNotCalled } from "./callers.ts";
import { defaultLifetimes, type Lifetimes } from "./certificates/authority.ts";
import { authoritySecret } from "./certificates/authority-secret.ts";
import type { CertificateSource, Served } from "./certificates/certificate-source.ts";
import { clientAuthorities } from "./certificates/client-authorities.ts";
import { keepCertificates } from "./certificates/keeper.ts";
import { ownCertificates } from "./certificates/own-certificates.ts";
import { readCertificate } from "./certificates/pem.ts";
import { installedRegistration, ownRegistration, type Registration } from "./certificates/registration.ts";
import { tlsDirectory } from "./certificates/tls-directory.ts";
import { createReviewer } from "./review/reviewer.ts";
import { type AdmissionServer, type ServedToCallers, serveAdmission } from "./server/server.ts";

/** What the webhook needs. */
export interface WebhookOptions {
  readonly client: ApiClient;
  readonly policy: Policy;
  /** What the caches hold. */
  readonly cached: Lookup;
  /** The kinds of workload that are there; undefined: the built-in ones. */
  readonly kinds?: (() => readonly WorkloadRow[]) | undefined;
  /** The kinds that are wanted besides the built-in ones. */
  readonly workloadKinds?: readonly WantedKind[] | undefined;
  /** In Go's form, such as ":9443". */
  readonly bindAddress: string;
  /** Where the Service is, and the Secret with the certificate authority. */
  readonly namespace: string;
  /** Of the Service and of the MutatingWebhookConfiguration installed with it; with "-authority", of the Secret. */
  readonly serviceName: string;
  /** Where the API server reaches a Wave outside the cluster, which then registers itself. */
  readonly url: URL | undefined;
  /** Holds certificate and key of somebody else's making, and the token of the path. */
  readonly tlsDirectory: string | undefined;
  /** A file of certificates in PEM; then callers must show a certificate by one of these. */
  readonly clientCaFile?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly random?: () => number;
  readonly lifetimes?: Lifetimes;
  /**
   * How long an installed webhook still serves after the signal: until API servers no longer call it, and where all
   * replicas end at once, until those in their place are ready. Default 10,000.
   */
  readonly lingerMs?: number;
}

/** The admission webhook with its certificates. */
export interface Webhook {
  /**
   * Undefined while reviews are answered and the API server can trust the certificate; else why not. A certificate that
   * was trusted once is as good when it cannot be kept for a while, until it expires: replicas that all called themselves
   * unready because of one broken Secret would end admission, which still works.
   */
  ready(): string | undefined;
  /** The port that is listened on; undefined before. */
  port(): number | undefined;
  /**
   * Serves until the signal, then answers what is under way and resolves. What goes wrong with the API server is logged
   * and tried again.
   * @throws Error in one line where it cannot listen.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** Nothing happens before `run`. */
export function createWebhook(options: WebhookOptions): Webhook {
  const { client, namespace, serviceName, url, clock, log, random = Math.random } = options;
  const service = { namespace, name: serviceName };
  const registration = url
    ? ownRegistration(client, url, options.policy, options.workloadKinds)
    : warnWhereNotCalled(installedRegistration(client, service), service, log);
  const secretName = `${serviceName}-authority`;
  const source = sourceOf(options, registration, secretName);
  let server: AdmissionServer | undefined;
  let problem: string | undefined = "it has no certificate yet";
  /** Until when reviews can be answered whatever the problem, by the wall clock. */
  let servesUntil = Number.NEGATIVE_INFINITY;
  // From the start, not from the first certificate on.
  const review = createReviewer(options);
  options.metrics.counter(admissionMetrics.requests);
  const expiration = options.metrics.gauge(admissionMetrics.certificateExpiry);

  async function run(signal: AbortSignal): Promise<void> {
    const failed = new AbortController();
    const running = AbortSignal.any([signal, failed.signal]);
    let listenFailure: unknown;
    let shown: { readonly served: ServedToCallers; readonly notAfter: number } | undefined;

    const serve = async (kept: Served) => {
      const served = { ...kept, clientAuthorities: await clientAuthorities(options.clientCaFile) };
      if (isDeepStrictEqual(served, shown?.served)) return;
      if (server) server.serve(served);
      else {
        try {
          server = await serveAdmission({
            address: options.bindAddress,
            served,
            review,
            clock,
            log,
            metrics: options.metrics,
          });
        } catch (error) {
          listenFailure = error;
          failed.abort();
          throw error;
        }
        log.info("serving the webhook", { address: options.bindAddress, configuration: registration.name });
      }
      const { notAfter } = readCertificate(served.certificate);
      shown = { served, notAfter };
      expiration.set(notAfter / 1000);
    };
    const onState = (now: string | undefined) => {
      problem = now;
      if (now === undefined && shown) servesUntil = shown.notAfter;
    };

    const changes = [
      watch(options, resources.mutatingWebhookConfigurations, registration.name, undefined, running),
      ...(options.tlsDirectory ? [] : [watch(options, resources.secrets, secretName, namespace, running)]),
    ];
    await keepCertificates({ source, serve, changes, clock, log, random, onState }, running);
    if (listenFailure === undefined) await stop();
    problem = "it has stopped";
    servesUntil = Number.NEGATIVE_INFINITY;
    if (listenFailure !== undefined) throw listenFailure;
  }

  /**
   * It stays ready meanwhile: a Pod that is being deleted gets no calls while another is ready, and all of them where none
   * is, as long as it says that it can answer
   * (https://kubernetes.io/docs/tutorials/services/pods-and-endpoint-termination-flow/).
   */
  async function stop(): Promise<void> {
    if (server === undefined) return;
    server.drain();
    try {
      if (url) await registration.withdraw(AbortSignal.timeout(5000));
      else await sleep(clock, options.lingerMs ?? 10_000);
    } catch (error) {
      const { name } = registration;
      const advice = `delete it: kubectl delete mutatingwebhookconfiguration ${name}`;
      log.warn(`the webhook's registration could not be taken back; ${advice}`, { error: errorText(error) });
    }
    await server.close();
  }

  const ready = () => (clock.wall() < servesUntil ? undefined : problem);
  return { ready, port: () => server?.port, run };
}

function sourceOf(options: WebhookOptions, registration: Registration, secretName: string): CertificateSource {
  const source = certificatesOf(options, registration, secretName);
  if (options.clientCaFile === undefined) return source;
  // The file is read with each step.
  return { step: async (signal, serve) => Math.min(await source.step(signal, serve), 60_000) };
}

function certificatesOf(options: WebhookOptions, registration: Registration, secretName: string): CertificateSource {
  const { client, namespace, serviceName, url, clock, log, tlsDirectory: directory } = options;
  if (directory !== undefined) return tlsDirectory({ directory, registration, clock, log });
  return ownCertificates({
    secret: authoritySecret(client, { namespace, name: secretName }),
    registration,
    hosts: url ? [url.hostname.replace(/^\[|\]$/g, "")] : serviceHosts(serviceName, namespace),
    lifetimes: options.lifetimes ?? defaultLifetimes,
    clock,
    log,
  });
}

/** The API server calls a Service as name.namespace.svc; the others are for people who look. */
function serviceHosts(name: string, namespace: string): readonly string[] {
  const host = `${name}.${namespace}.svc`;
  return [host, `${host}.cluster.local`, `${name}.${namespace}`, name];
}

/** What happens to one object by name. */
function watch(
  { client, clock, log, metrics, random }: WebhookOptions,
  resource: Resource,
  name: string,
  namespace: string | undefined,
  signal: AbortSignal,
): AsyncIterable<unknown> {
  return listWatch({
    client,
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    fieldSelector: `metadata.name=${name}`,
    clock,
    log,
    metrics,
    ...(random ? { random } : {}),
    signal,
  });
}
