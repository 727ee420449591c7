import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAuthority } from "./certificates.ts";
import { clientAuthorities } from "./client-authorities.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "wave-client-ca-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("the authorities of clients", () => {
  it("are those of the file, and none where no file is given", async () => {
    const file = join(folder, "ca.crt");
    const { pem } = createAuthority("clients", { notBefore: 0, notAfter: 1e12 }).certificate;
    await writeFile(file, `# two\n${pem}${pem}`);
    expect(await clientAuthorities(file)).toBe(pem);
    expect(await clientAuthorities(undefined)).toBeUndefined();
  });

  it("that cannot be read are an error that names the file and the flag: nobody is let in for want of them", async () => {
    const file = join(folder, "ca.crt");
    await expect(clientAuthorities(file)).rejects.toThrow(`${file} cannot be read (--webhook-client-ca-file)`);
    await writeFile(file, "");
    await expect(clientAuthorities(file)).rejects.toThrow(
      `${file} has no certificate in PEM (--webhook-client-ca-file)`,
    );
    await writeFile(file, "-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n");
    await expect(clientAuthorities(file)).rejects.toThrow(
      `${file} has a certificate that cannot be read (--webhook-client-ca-file)`,
    );
  });
});
