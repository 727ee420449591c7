import { bearer, type Credential, type Credentials } from "./credentials.ts";
import { type ExecContext, type ExecCredential, type ExecPlugin, runExecPlugin } from "./exec-plugin.ts";

/**
 * Returns credentials that a program prints. They are valid until they expire, or until the server responds with 401. The
 * program runs once for all requests that wait for it. Unchanged output is the same credential.
 */
export function execCredentials(plugin: ExecPlugin, surroundings: ExecContext): Credentials {
  let credential: Credential | undefined;
  let expiresAt = Number.POSITIVE_INFINITY;
  let running: Promise<Credential> | undefined;

  const run = async (): Promise<Credential> => {
    const status = await runExecPlugin(plugin, surroundings);
    expiresAt = status.expiresAt;
    credential = toCredential(status, credential);
    return credential;
  };
  const runOnce = (): Promise<Credential> => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    current: async () => (credential !== undefined && surroundings.clock.wall() < expiresAt ? credential : runOnce()),
    renew: async (rejected) => {
      if (credential !== undefined && credential !== rejected) return credential;
      const fresh = await runOnce();
      return fresh === rejected ? undefined : fresh;
    },
  };
}

/** Returns the same object for an unchanged certificate, so that connections that use it are kept. */
function toCredential({ token, certificate }: ExecCredential, before: Credential | undefined): Credential {
  const old = before?.certificate;
  const sameCertificate = old?.cert === certificate?.cert && old?.key === certificate?.key;
  const headers = token === undefined ? {} : bearer(token);
  if (before !== undefined && sameCertificate && before.headers.authorization === headers.authorization) return before;
  return { headers, certificate: sameCertificate ? old : certificate };
}
