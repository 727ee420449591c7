// The webhook folder: HTTPS server, certificates and reviews of workloads. It may know domain, cache and kube, not the controllers.
import { isDeepStrictEqual } from "node:util";
import type { RequestedKind } from "../domain/model/kinds/requested-kind.ts";
import { type Resource, resources } from "../kube/api/resources.ts";
import { listWatch } from "../kube/list-watch/list-watch.ts";
import { sleep } from "../lib/clock.ts";
import { webhookMetrics } from "../telemetry/catalogue/webhooks.ts";
import { errorText, logMessages } from "../telemetry/logging/log-messages.ts";
import { authoritySecret, defaultLifetimes, type Lifetimes } from "./certificates/authority.ts";
import { type CertificateSource, runCertificateLoop, type ServingConfig } from "./certificates/certificate-loop.ts";
import { ownCertificates } from "./certificates/own-certificates.ts";
import { clientAuthorities, readCertificate } from "./certificates/pem.ts";
import {
  installedRegistration,
  ownRegistration,
  type Registration,
  warnIfNotRegistered,
} from "./certificates/registration.ts";
import { tlsDirectory } from "./certificates/tls-directory.ts";
import { type AdmissionOptions, createReviewer } from "./review/reviewer.ts";
import { type AdmissionServer, type ServerConfig, serveAdmission } from "./server/server.ts";

/** Options of {@link createWebhook}. */
export interface WebhookOptions extends Omit<AdmissionOptions, "isStopping"> {
  /** Configured kinds in addition to the built-in ones. */
  readonly workloadKinds?: readonly RequestedKind[] | undefined;
  /** An address in the form that Go uses, such as ":9443". */
  readonly bindAddress: string;
  /** Namespace of the Service and of the Secret with the certificate authority. */
  readonly namespace: string;
  /** Name of the Service and of the MutatingWebhookConfiguration. The Secret has this name with the suffix "-authority". */
  readonly serviceName: string;
  /** The URL at which the API server reaches a Wave outside the cluster. Wave then registers itself. */
  readonly url: URL | undefined;
  /** Directory with an external certificate, its key, and the token of the path. Undefined: Wave issues certificates. */
  readonly tlsDirectory: string | undefined;
  /** PEM file with certificate authorities. If set, a client must present a certificate that one of them signed. */
  readonly clientCaFile?: string | undefined;
  readonly random?: () => number;
  readonly lifetimes?: Lifetimes;
}

/** In this time API servers stop calling a replica that stops. If all replicas stop together, their successors become ready. */
const lingerMs = 10_000;

/** The admission webhook with its certificates. */
export interface Webhook {
  /**
   * Returns undefined while Wave answers reviews and the API server can trust the certificate, otherwise the reason. A
   * certificate that was trusted stays good until it expires, even if Wave cannot renew it for a while. Otherwise one broken
   * Secret would make all replicas unready and end a webhook that still works.
   */
  ready(): string | undefined;
  /** Returns the port on which the server listens; undefined before it listens. */
  port(): number | undefined;
  /** Serves until the signal, then answers the requests in flight. Retries failures of the API server. Throws if it cannot listen. */
  run(signal: AbortSignal): Promise<void>;
}

/** Creates the webhook. Nothing happens before `run`. */
export function createWebhook(options: WebhookOptions): Webhook {
  const { client, namespace, serviceName, url, bindAddress, clock, log, metrics, random = Math.random } = options;
  const service = { namespace, name: serviceName };
  const registration = url
    ? ownRegistration(client, url, options.policy, options.workloadKinds)
    : warnIfNotRegistered(installedRegistration(client, service), service, log);
  const secretName = `${serviceName}-authority`;
  const source = certificateSource(options, registration, secretName);
  let server: AdmissionServer | undefined;
  let problem: string | undefined = "no certificate yet";
  /** Wall-clock time until which reviews can be answered whatever the problem is. */
  let servesUntil = Number.NEGATIVE_INFINITY;
  let isStopping = false;
  const review = createReviewer({ ...options, isStopping: () => isStopping });
  // Declared now, so that the series exist before the first certificate.
  metrics.counter(webhookMetrics.requests);
  const expiration = metrics.gauge(webhookMetrics.certificateExpiry);

  async function run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => {
      isStopping = true;
    });
    /** Aborted if the server cannot listen. */
    const failed = new AbortController();
    const running = AbortSignal.any([signal, failed.signal]);
    let shown: { readonly served: ServerConfig; readonly notAfter: number } | undefined;

    const serve = async (config: ServingConfig) => {
      const served = { ...config, clientAuthorities: await clientAuthorities(options.clientCaFile) };
      if (isDeepStrictEqual(served, shown?.served)) return;
      if (server) server.serve(served);
      else {
        try {
          server = await serveAdmission({ address: bindAddress, served, review, clock, log, metrics });
        } catch (error) {
          failed.abort(error);
          throw error;
        }
        log.info("serving the webhook", { address: bindAddress, configuration: registration.name });
      }
      const { notAfter } = readCertificate(served.certificate);
      shown = { served, notAfter };
      expiration.set(notAfter / 1000);
    };
    const onState = (now: string | undefined) => {
      problem = now;
      if (now === undefined && shown) servesUntil = shown.notAfter;
    };

    const watch = (of: { readonly resource: Resource; readonly namespace?: string }, name: string) =>
      listWatch({
        ...of,
        fieldSelector: `metadata.name=${name}`,
        client,
        clock,
        log,
        metrics,
        random,
        signal: running,
      });
    const changes = [
      watch({ resource: resources.mutatingWebhookConfigurations }, registration.name),
      ...(options.tlsDirectory ? [] : [watch({ resource: resources.secrets, namespace }, secretName)]),
    ];
    await runCertificateLoop({ source, serve, changes, clock, log, random, onState }, running);
    if (!failed.signal.aborted) await stop();
    problem = "stopped";
    servesUntil = Number.NEGATIVE_INFINITY;
    failed.signal.throwIfAborted();
  }

  /**
   * Stops the server, which stays ready meanwhile. A terminating Pod gets no calls while another Pod is ready. If no other
   * Pod is ready, it gets all calls as long as it reports that it is ready
   * (https://kubernetes.io/docs/tutorials/services/pods-and-endpoint-termination-flow/).
   */
  async function stop(): Promise<void> {
    if (server === undefined) return;
    server.drain();
    try {
      if (url) await registration.withdraw(AbortSignal.timeout(5000));
      else await sleep(clock, lingerMs);
    } catch (error) {
      log.warn(logMessages.registrationNotDeleted, { configuration: registration.name, error: errorText(error) });
    }
    await server.close();
  }

  const ready = () => (clock.wall() < servesUntil ? undefined : problem);
  return { ready, port: () => server?.port, run };
}

function certificateSource(options: WebhookOptions, registration: Registration, secretName: string): CertificateSource {
  const source = certificatesFrom(options, registration, secretName);
  if (options.clientCaFile === undefined) return source;
  // Every reconcile reads the file again.
  return { reconcile: async (signal, serve) => Math.min(await source.reconcile(signal, serve), 60_000) };
}

function certificatesFrom(options: WebhookOptions, registration: Registration, secretName: string): CertificateSource {
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

/** Returns the host names of a Service. The API server calls name.namespace.svc; the others are for clients of people. */
function serviceHosts(name: string, namespace: string): readonly string[] {
  const host = `${name}.${namespace}.svc`;
  return [host, `${host}.cluster.local`, `${name}.${namespace}`, name];
}
