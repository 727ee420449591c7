import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAuthority } from "./certificates.ts";
import { clientAuthorities } from "./pem.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "wave-client-ca-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("clientAuthorities", () => {
  it("returns the certificates of the file, and undefined without a file", async () => {
    const file = join(folder, "ca.crt");
    const { pem } = createAuthority("clients", { notBefore: 0, notAfter: 1e12 }).certificate;
    await writeFile(file, `# two\n${pem}${pem}`);
    expect(await clientAuthorities(file)).toBe(pem);
    expect(await clientAuthorities(undefined)).toBeUndefined();
  });

  it("rejects an unreadable file with an error that names file and flag, so that no client is accepted without a check", async () => {
    const file = join(folder, "ca.crt");
    await expect(clientAuthorities(file)).rejects.toThrow(`${file} cannot be read (--webhook-client-ca-file)`);
    await writeFile(file, "");
    await expect(clientAuthorities(file)).rejects.toThrow(
      `${file} contains no certificate in PEM (--webhook-client-ca-file)`,
    );
    await writeFile(file, "-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n");
    await expect(clientAuthorities(file)).rejects.toThrow(
      `${file} contains a certificate that cannot be read (--webhook-client-ca-file)`,
    );
  });
});
