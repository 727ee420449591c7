import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { MemoryApi } from "../../../test/support/memory-api.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { CertificateSource, Served } from "./certificate-source.ts";
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
  const authority = createAuthority("somebody's", validity);
  const { certificate, key } = issueServingCertificate(authority, ["a"], validity);
  return { certificate: certificate.pem, key, authority: authority.certificate };
};

let directory: string;
let api: MemoryApi;
let logged: string[];
let source: CertificateSource;
let served: Served[];
const step = () => source.step(signal, async (shown) => void served.push(shown));
const registered = () => installedRegistration(api, service).read(signal);
const trusted = async () => (await registered())?.trusted;
const token = "token-of-a-path-that-nobody-knows";

/** Writes as the kubelet does: a new folder, and one link that is swapped. */
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

  it("are served, and again when the mount is swapped", async () => {
    await mount({ "tls.crt": first.certificate, "tls.key": first.key });
    expect(await step()).toBe(5000);
    await mount({ "tls.crt": second.certificate, "tls.key": second.key });
    await step();
    expect(served.map(({ certificate }) => certificate)).toEqual([first.certificate, second.certificate]);
    expect(logged).toEqual(["the webhook's certificate has changed"]);
  });

  it("may be plain files", async () => {
    await writeFile(join(directory, "tls.crt"), first.certificate);
    await writeFile(join(directory, "tls.key"), first.key);
    await writeFile(join(directory, "token"), `${token}\n`);
    await step();
    expect(served).toEqual([{ certificate: first.certificate, key: first.key, tokens: [token] }]);
  });

  it("stay when the new pair cannot be used, which is said once", async () => {
    await mount({ "tls.crt": first.certificate, "tls.key": first.key });
    await step();
    await mount({ "tls.crt": second.certificate, "tls.key": first.key });
    await step();
    await step();
    expect(served.map(({ certificate }) => certificate)).toEqual(Array(3).fill(first.certificate));
    expect(logged).toEqual(["the new webhook certificate is not used; the one before stays"]);
  });

  it("that are missing or broken at the start are an error that names the flag", async () => {
    await expect(step()).rejects.toThrow("a file of --webhook-tls-directory cannot be read");
    await mkdir(join(directory, "x"));
    await mount({ "tls.crt": "x", "tls.key": "y" });
    await expect(step()).rejects.toThrow(`the files in ${directory} cannot be used (--webhook-tls-directory)`);
    expect(served).toEqual([]);
  });

  it.each(["", "short", `${token} ${"x".repeat(31)}`, `${token}/`])(
    "without a token that nobody guesses (%s) are an error that says how to make one, and not what there is",
    async (wrong) => {
      await mount({ "tls.crt": first.certificate, "tls.key": first.key, token: wrong });
      const failure = await step().then(
        () => "",
        (error: Error) => error.message,
      );
      expect(failure).toBe(
        `there is no file "token" in ${directory} (--webhook-tls-directory) with 32 to 128 letters, digits, "-" or "_" a line, for the secret path of the webhook: openssl rand -hex 16 makes one`,
      );
      expect(served).toEqual([]);
    },
  );

  it("bring another path by two lines, and then one, without a moment in which a replica refuses what is called", async () => {
    const mountTokens = (...tokens: readonly string[]) =>
      mount({ "tls.crt": first.certificate, "tls.key": first.key, token: tokens.join("\n") });
    const next = "another-token-that-nobody-knows-0";
    await mountTokens(token);
    await step();
    await mountTokens(token, next);
    await step();
    expect(served.at(-1)?.tokens).toEqual([token, next]);
    expect((await registered())?.token).toBe(token);
    await mountTokens(next);
    await step();
    expect((await registered())?.token).toBe(next);
    // A replica whose mount is older leaves that as it is.
    await mountTokens(token, next);
    await step();
    expect((await registered())?.token).toBe(next);
    await mountTokens(next);
    await step();
    await clock.advance(59_000);
    await step();
    // API servers may not have learnt of the new one yet.
    expect(served.at(-1)?.tokens).toContain(token);
    await clock.advance(2000);
    await step();
    expect(served.at(-1)?.tokens).toEqual([next]);
  });

  it("with a ca.crt are made trusted besides what is trusted already, so that replicas do not fight", async () => {
    await mount({ "tls.crt": first.certificate, "tls.key": first.key, "ca.crt": first.authority.pem });
    await step();
    expect(await trusted()).toEqual([first.authority]);
    await mount({ "tls.crt": second.certificate, "tls.key": second.key, "ca.crt": second.authority.pem });
    await step();
    expect(await trusted()).toEqual([first.authority, second.authority]);
    const writes = [...api.writes];
    await step();
    expect(api.writes).toEqual(writes);
  });

  it("leave the caBundle alone without a ca.crt, or where cert-manager writes it", async () => {
    await mount({ "tls.crt": first.certificate, "tls.key": first.key });
    await step();
    // The path alone.
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
    await step();
    expect(api.writes).toEqual(writes);
    expect(await registered()).toMatchObject({ trusted: [], token });
  });
});
