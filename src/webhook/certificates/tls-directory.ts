import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import type { CertificateSource, ServingConfig } from "./certificate-loop.ts";
import { isToken } from "./path-token.ts";
import { type Certificate, readBundle, readKeyPair } from "./pem.ts";
import type { Registration, RegistrationState } from "./registration.ts";

interface CertificateFiles extends ServingConfig {
  readonly authorities: readonly Certificate[];
}

const rereadMs = 5000;

/** How long the path of a removed token is still answered. API servers see a new path within seconds. */
const tokenGraceMs = 60_000;

/**
 * Returns serving certificates from files that another program updates, such as cert-manager. Wave reads them every five seconds.
 * If a new pair cannot be used, Wave logs an error and serves the previous one. If there is a `ca.crt`, Wave adds it to the
 * caBundle and removes no valid entry, and it keeps a registered path whose token is in the file. Thus replicas whose mounts
 * differ in age do not overwrite each other.
 */
export function tlsDirectory({
  directory,
  registration,
  clock,
  log,
}: Pick<ProcessContext, "clock" | "log"> & {
  /**
   * Contains `tls.crt` and `tls.key`, and optionally `ca.crt`, like a mounted Secret of type `kubernetes.io/tls`. Also contains
   * `token`: path tokens, one per line. Wave registers the first and answers all.
   */
  readonly directory: string;
  readonly registration: Registration;
}): CertificateSource {
  let used: CertificateFiles | undefined;
  let loggedProblem: string | undefined;
  /** When the file last contained each token. */
  const seen = new Map<string, number>();

  /** Returns the accepted tokens: those in the file, and for a while those that were removed from it. */
  function acceptedTokens(inFile: readonly string[]): readonly string[] {
    const now = clock.monotonic();
    for (const token of inFile) seen.set(token, now);
    for (const [token, at] of seen) if (now - at > tokenGraceMs) seen.delete(token);
    return [...seen.keys()];
  }

  async function renew(): Promise<CertificateFiles> {
    let files: CertificateFiles;
    try {
      files = await readFiles(directory);
    } catch (error) {
      const problem = errorText(error);
      if (used === undefined) throw error;
      if (problem !== loggedProblem) log.error(logMessages.certificateUnusable, { directory, error: problem });
      loggedProblem = problem;
      return used;
    }
    loggedProblem = undefined;
    if (used !== undefined && (files.certificate !== used.certificate || files.key !== used.key)) {
      log.info("loaded a new webhook certificate", { directory });
    }
    used = files;
    return files;
  }

  return {
    async reconcile(signal, serve) {
      const { certificate, key, authorities, tokens } = await renew();
      await serve({ certificate, key, tokens: acceptedTokens(tokens) });
      const before = await registration.read(signal);
      const [first = ""] = tokens;
      const token = before?.token !== undefined && tokens.includes(before.token) ? before.token : first;
      await registration.publish(before, { trusted: desiredBundle(before, authorities, clock.wall()), token }, signal);
      return rereadMs;
    },
  };
}

/** Returns the caBundle to write; undefined if cert-manager writes it. */
function desiredBundle(
  before: RegistrationState | undefined,
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

/** Reads all files from one state of the mount: the kubelet replaces them together through the link `..data`. */
async function readFiles(directory: string): Promise<CertificateFiles> {
  const folder = await realpath(join(directory, "..data")).catch(() => directory);
  const [certificate, key, authority, token] = await Promise.all([
    readFile(join(folder, "tls.crt"), "utf8").catch(unreadable),
    readFile(join(folder, "tls.key"), "utf8").catch(unreadable),
    readFile(join(folder, "ca.crt"), "utf8").catch(() => ""),
    readFile(join(folder, "token"), "utf8").catch(() => ""),
  ]);
  const tokens = token.split(/\s+/).filter((text) => text !== "");
  if (tokens.length === 0 || !tokens.every(isToken)) {
    // Without the content of the file, which is secret.
    throw new Error(
      `file "token" in ${directory} (--webhook-tls-directory) is missing or invalid; write one token per line, of 32 to 128 letters, digits, "-" or "_", for example: openssl rand -hex 16`,
    );
  }
  try {
    readKeyPair(certificate, key);
    return { certificate, key, authorities: readBundle(authority), tokens };
  } catch (cause) {
    throw new Error(`cannot use the files in ${directory} (--webhook-tls-directory)`, { cause });
  }
}

function unreadable(cause: unknown): never {
  throw new Error("cannot read a file of --webhook-tls-directory", { cause });
}
