import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { MemoryApi } from "../../../test/support/memory-api.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { CertificateSource, ServingConfig } from "./certificate-loop.ts";
import { createAuthority, issueServingCertificate } from "./certificates.ts";
import { webhookConfiguration } from "./configuration.ts";
import { installedRegistration } from "./registration.ts";
import { tlsDirectory } from "./tls-directory.ts";

const { signal } = new AbortController();
const service = { namespace: "wave", name: "wave-webhook" };
const configurations = resourcePath(resources.mutatingWebhookConfigurations);
const clock = new FakeClock();
const validity = { notBefore: clock.wall() - 1000, notAfter: clock.wall() + 3_600_000 };
const issue = () => {
  const authority = createAuthority("another", validity);
  const { certificate, key } = issueServingCertificate(authority, ["a"], validity);
  return { certificate: certificate.pem, key, authority: authority.certificate };
};

let directory: string;
let api: MemoryApi;
let logged: string[];
let source: CertificateSource;
let served: ServingConfig[];
const reconcile = () => source.reconcile(signal, async (shown) => void served.push(shown));
const registered = () => installedRegistration(api, service).read(signal);
const trusted = async () => (await registered())?.trusted;
const token = "token-of-an-unguessable-path-here";

/** Writes like the kubelet: a new folder, and one link that is replaced. */
async function mount(files: Readonly<Record<string, string>>): Promise<void> {
  const folder = await mkdtemp(join(directory, "..2026_"));
  for (const [name, text] of Object.entries({ token, ...files })) await writeFile(join(folder, name), text);
  await symlink(folder, join(directory, "..data_tmp"));
  await rename(join(directory, "..data_tmp"), join(directory, "..data"));
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "wave-tls-"));
  api = new MemoryApi();
  logged = [];
  served = [];
  const note = (message: string) => void logged.push(message);
  const log: Logger = { debug: note, info: note, warn: note, error: note };
  source = tlsDirectory({ directory, registration: installedRegistration(api, service), clock, log });
  const body = webhookConfiguration({ name: service.name, clientConfig: { service }, namespaces: undefined });
  await api.request({ method: "POST", path: configurations, body });
});
afterEach(() => rm(directory, { recursive: true }));

describe("certificates from a directory", () => {
  const first = issue();
  const second = issue();

  it("are served, and served again after the mount was replaced", async () => {
    await mount({ "tls.crt": first.certificate, "tls.key": first.key });
    expect(await reconcile()).toBe(5000);
    await mount({ "tls.crt": second.certificate, "tls.key": second.key });
    await reconcile();
    expect(served.map(({ certificate }) => certificate)).toEqual([first.certificate, second.certificate]);
    expect(logged).toEqual(["loaded a new webhook certificate"]);
  });

  it("can be plain files", async () => {
    await writeFile(join(directory, "tls.crt"), first.certificate);
    await writeFile(join(directory, "tls.key"), first.key);
    await writeFile(join(directory, "token"), `${token}\n`);
    await reconcile();
    expect(served).toEqual([{ certificate: first.certificate, key: first.key, tokens: [token] }]);
  });

  it("stay when the new pair cannot be used, with one log line", async () => {
    await mount({ "tls.crt": first.certificate, "tls.key": first.key });
    await reconcile();
    await mount({ "tls.crt": second.certificate, "tls.key": first.key });
    await reconcile();
    await reconcile();
    expect(served.map(({ certificate }) => certificate)).toEqual(Array(3).fill(first.certificate));
    expect(logged).toEqual(["cannot use the new webhook certificate; serving the previous one"]);
  });

  it("are rejected at start with an error that names the flag if they are missing or broken", async () => {
    await expect(reconcile()).rejects.toThrow("cannot read a file of --webhook-tls-directory");
    await mkdir(join(directory, "x"));
    await mount({ "tls.crt": "x", "tls.key": "y" });
    await expect(reconcile()).rejects.toThrow(`cannot use the files in ${directory} (--webhook-tls-directory)`);
    expect(served).toEqual([]);
  });

  it.each(["", "short", `${token} ${"x".repeat(31)}`, `${token}/`])(
    "are rejected without a long token (%s), with an error that shows how to make one and does not quote the file",
    async (wrong) => {
      await mount({ "tls.crt": first.certificate, "tls.key": first.key, token: wrong });
      const failure = await reconcile().then(
        () => "",
        (error: Error) => error.message,
      );
      expect(failure).toBe(
        `file "token" in ${directory} (--webhook-tls-directory) is missing or invalid; write one token per line, of 32 to 128 letters, digits, "-" or "_", for example: openssl rand -hex 16`,
      );
      expect(served).toEqual([]);
    },
  );

  it("change the path with two lines and then one, and every replica always answers the registered path", async () => {
    const mountTokens = (...tokens: readonly string[]) =>
      mount({ "tls.crt": first.certificate, "tls.key": first.key, token: tokens.join("\n") });
    const next = "another-token-that-is-unguessable";
    await mountTokens(token);
    await reconcile();
    await mountTokens(token, next);
    await reconcile();
    expect(served.at(-1)?.tokens).toEqual([token, next]);
    expect((await registered())?.token).toBe(token);
    await mountTokens(next);
    await reconcile();
    expect((await registered())?.token).toBe(next);
    // A replica with an older mount keeps that path.
    await mountTokens(token, next);
    await reconcile();
    expect((await registered())?.token).toBe(next);
    await mountTokens(next);
    await reconcile();
    await clock.advance(59_000);
    await reconcile();
    // API servers may not have seen the new path yet.
    expect(served.at(-1)?.tokens).toContain(token);
    await clock.advance(2000);
    await reconcile();
    expect(served.at(-1)?.tokens).toEqual([next]);
  });

  it("add their ca.crt to the trusted certificates, so that replicas do not overwrite each other", async () => {
    await mount({ "tls.crt": first.certificate, "tls.key": first.key, "ca.crt": first.authority.pem });
    await reconcile();
    expect(await trusted()).toEqual([first.authority]);
    await mount({ "tls.crt": second.certificate, "tls.key": second.key, "ca.crt": second.authority.pem });
    await reconcile();
    expect(await trusted()).toEqual([first.authority, second.authority]);
    const writes = [...api.writes];
    await reconcile();
    expect(api.writes).toEqual(writes);
  });

  it("leave the caBundle unchanged without a ca.crt, or if cert-manager writes it", async () => {
    await mount({ "tls.crt": first.certificate, "tls.key": first.key });
    await reconcile();
    // Only the path.
    expect(api.writes).toHaveLength(2);
    expect(await registered()).toMatchObject({ trusted: [], token });
    const path = `${configurations}/wave-webhook`;
    const annotations = { "cert-manager.io/inject-ca-from": "wave/webhook" };
    await api.request({
      method: "PATCH",
      path,
      body: [{ op: "add", path: "/metadata/annotations", value: annotations }],
    });
    const writes = [...api.writes];
    await mount({ "tls.crt": second.certificate, "tls.key": second.key, "ca.crt": second.authority.pem });
    await reconcile();
    expect(api.writes).toEqual(writes);
    expect(await registered()).toMatchObject({ trusted: [], token });
  });
});
