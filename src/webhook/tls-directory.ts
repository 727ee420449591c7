import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../lib/clock.ts";
import { errorText } from "../telemetry/error-text.ts";
import type { Logger } from "../telemetry/log.ts";
import type { CertificateSource } from "./certificate-source.ts";
import { type Certificate, readBundle, readKeyPair } from "./pem.ts";
import type { Registered, Registration } from "./registration.ts";

/** What certificates from files need. */
export interface TlsDirectoryOptions {
  /** Holds `tls.crt` and `tls.key`, and perhaps `ca.crt`, as a mounted Secret of type `kubernetes.io/tls` does. */
  readonly directory: string;
  readonly registration: Registration;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Files {
  /** With its chain. */
  readonly certificate: string;
  readonly key: string;
  readonly authorities: readonly Certificate[];
}

const checkEveryMs = 5000;

/**
 * Serving certificates from files that somebody else keeps, such as cert-manager; read again every five seconds.
 * A pair that cannot be used is reported, and the one before it stays. Where there is a `ca.crt`, the API server is made
 * to trust it besides what it trusts already: replicas whose mounts are not equally new do not fight.
 */
export function tlsDirectory({ directory, registration, clock, log }: TlsDirectoryOptions): CertificateSource {
  let used: Files | undefined;
  let reported: string | undefined;

  async function renew(): Promise<Files> {
    let files: Files;
    try {
      files = await readFiles(directory);
    } catch (error) {
      const problem = errorText(error);
      if (used === undefined) throw error;
      if (problem !== reported) log.error("the new webhook certificate is not used; the one before stays", { problem });
      reported = problem;
      return used;
    }
    reported = undefined;
    if (used !== undefined && (files.certificate !== used.certificate || files.key !== used.key)) {
      log.info("the webhook's certificate has changed", { directory });
    }
    used = files;
    return files;
  }

  return {
    async step(signal, serve) {
      const { certificate, key, authorities } = await renew();
      await serve({ certificate, key });
      const before = await registration.read(signal);
      const bundle = bundleFor(before, authorities, clock.wall());
      if (bundle !== undefined) await registration.publish(before, bundle, signal);
      return checkEveryMs;
    },
  };
}

/** Undefined where the caBundle is not Wave's to write because cert-manager writes it. */
function bundleFor(
  before: Registered | undefined,
  authorities: readonly Certificate[],
  now: number,
): readonly Certificate[] | undefined {
  if (before !== undefined) {
    const annotations = Object.keys(before.object.metadata.annotations ?? {});
    if (annotations.some((name) => name.startsWith("cert-manager.io/inject-"))) return undefined;
  }
  const trusted = before?.trusted ?? [];
  if (authorities.length === 0) return trusted;
  const isNew = ({ fingerprint }: Certificate) => !trusted.some((known) => known.fingerprint === fingerprint);
  return [...trusted.filter(({ notAfter }) => notAfter > now), ...authorities.filter(isNew)];
}

/** The kubelet swaps all files of a mount at once through the link `..data`; read from one side of the swap. */
async function readFiles(directory: string): Promise<Files> {
  const folder = await realpath(join(directory, "..data")).catch(() => directory);
  const [certificate, key, authority] = await Promise.all([
    readFile(join(folder, "tls.crt"), "utf8").catch(unreadable),
    readFile(join(folder, "tls.key"), "utf8").catch(unreadable),
    readFile(join(folder, "ca.crt"), "utf8").catch(() => ""),
  ]);
  try {
    readKeyPair(certificate, key);
    return { certificate, key, authorities: readBundle(authority) };
  } catch (cause) {
    throw new Error(`the files in ${directory} cannot be used (--webhook-tls-directory)`, { cause });
  }
}

function unreadable(cause: unknown): never {
  throw new Error("a file of --webhook-tls-directory cannot be read", { cause });
}
