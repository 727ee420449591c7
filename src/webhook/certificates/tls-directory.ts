import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { CertificateSource } from "./certificate-source.ts";
import { isToken } from "./path-token.ts";
import { type Certificate, readBundle, readKeyPair } from "./pem.ts";
import type { Registered, Registration } from "./registration.ts";

/** What certificates from files need. */
export interface TlsDirectoryOptions {
  /**
   * Holds `tls.crt` and `tls.key`, and perhaps `ca.crt`, as a mounted Secret of type `kubernetes.io/tls` does, and `token`:
   * path tokens, one a line. The first is registered, all are answered.
   */
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
  /** At least one. */
  readonly tokens: readonly string[];
}

const checkEveryMs = 5000;

/** How long a path is still answered whose token has left the file: API servers learn of another one in seconds. */
const keepTokenMs = 60_000;

/**
 * Serving certificates from files that somebody else keeps, such as cert-manager; read again every five seconds.
 * A pair that cannot be used is reported, and the one before it stays. Where there is a `ca.crt`, the API server is made
 * to trust it besides what it trusts already: replicas whose mounts are not equally new do not fight. Nor do they about
 * the path: one whose token is in the file is left as it is.
 */
export function tlsDirectory({ directory, registration, clock, log }: TlsDirectoryOptions): CertificateSource {
  let used: Files | undefined;
  let reported: string | undefined;
  /** When each token was last in the file. */
  const seen = new Map<string, number>();

  /** What is answered: the tokens of the file, and for a while those that were in it. */
  function answered(inFile: readonly string[]): readonly string[] {
    const now = clock.monotonic();
    for (const token of inFile) seen.set(token, now);
    for (const [token, at] of seen) if (now - at > keepTokenMs) seen.delete(token);
    return [...seen.keys()];
  }

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
      const { certificate, key, authorities, tokens } = await renew();
      await serve({ certificate, key, tokens: answered(tokens) });
      const before = await registration.read(signal);
      const [first = ""] = tokens;
      const token = before?.token !== undefined && tokens.includes(before.token) ? before.token : first;
      await registration.publish(before, { trusted: bundleFor(before, authorities, clock.wall()), token }, signal);
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
  const [certificate, key, authority, token] = await Promise.all([
    readFile(join(folder, "tls.crt"), "utf8").catch(unreadable),
    readFile(join(folder, "tls.key"), "utf8").catch(unreadable),
    readFile(join(folder, "ca.crt"), "utf8").catch(() => ""),
    readFile(join(folder, "token"), "utf8").catch(() => ""),
  ]);
  const tokens = token.split(/\s+/).filter((text) => text !== "");
  if (tokens.length === 0 || !tokens.every(isToken)) {
    // Never what is in it.
    throw new Error(
      `there is no file "token" in ${directory} (--webhook-tls-directory) with 32 to 128 letters, digits, "-" or "_" a line, for the secret path of the webhook: openssl rand -hex 16 makes one`,
    );
  }
  try {
    readKeyPair(certificate, key);
    return { certificate, key, authorities: readBundle(authority), tokens };
  } catch (cause) {
    throw new Error(`the files in ${directory} cannot be used (--webhook-tls-directory)`, { cause });
  }
}

function unreadable(cause: unknown): never {
  throw new Error("a file of --webhook-tls-directory cannot be read", { cause });
}
