import { X509Certificate } from "node:crypto";
import { type AddressInfo, isIP } from "node:net";
import { checkServerIdentity, connect, createServer } from "node:tls";
import { describe, expect, it } from "vitest";
import { createAuthority, issueServingCertificate } from "./certificates.ts";
import { readBundle, readCertificate, readKeyPair, writeBundle } from "./pem.ts";

const day = 86_400_000;
const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + day };

/** Resolves when a client that trusts `ca` alone accepts a server with this certificate as `host`. */
function handshake(ca: string, served: { cert: string; key: string }, host: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = createServer(served, (socket) => socket.end()).listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    const client = connect({
      port,
      host: "127.0.0.1",
      ca,
      ...(isIP(host) ? {} : { servername: host }),
      checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
    });
    client.once("secureConnect", () => resolve());
    client.once("error", reject);
    client.once("close", () => server.close());
  });
  return promise;
}

describe("certificates", () => {
  it.each(["wave.wave-system.svc", "wave.wave-system.svc.cluster.local", "127.0.0.1", "::1", "2001:db8::a:0:1"])(
    "of a server are trusted by a client that trusts the authority, under the name %s",
    async (host) => {
      const authority = createAuthority("authority", validity);
      const serving = issueServingCertificate(authority, ["other.example", host], validity);
      const served = { cert: serving.certificate.pem, key: serving.key };
      await expect(handshake(authority.certificate.pem, served, host)).resolves.toBeUndefined();
    },
  );

  it("of a server are rejected for another host name, and by clients that trust another authority", async () => {
    const authority = createAuthority("authority", validity);
    const serving = issueServingCertificate(authority, ["wave.a.svc"], validity);
    const served = { cert: serving.certificate.pem, key: serving.key };
    const other = createAuthority("authority", validity);
    await expect(handshake(authority.certificate.pem, served, "wave.b.svc")).rejects.toThrow("altnames");
    await expect(handshake(other.certificate.pem, served, "wave.a.svc")).rejects.toThrow("certificate");
  });

  it("limit their use: an authority signs servers only, a server only serves", () => {
    const authority = createAuthority("authority", validity);
    const parsed = new X509Certificate(authority.certificate.pem);
    expect(parsed.ca).toBe(true);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(parsed.toLegacyObject().asn1Curve).toBe("prime256v1");
    const serving = new X509Certificate(issueServingCertificate(authority, ["a"], validity).certificate.pem);
    expect(serving.ca).toBe(false);
    expect(serving.checkIssued(parsed)).toBe(true);
    expect(serving.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    expect(serving.subjectAltName).toBe("DNS:a");
  });

  it.each([Date.UTC(2026, 0, 1), Date.UTC(2049, 11, 31, 23, 59, 59), Date.UTC(2050, 0, 1), Date.UTC(2120, 5, 7)])(
    "begin and end at the requested second, before and after 2050 (%d)",
    (moment) => {
      const made = createAuthority("authority", { notBefore: moment, notAfter: moment + day });
      expect(made.certificate).toMatchObject({ notBefore: moment, notAfter: moment + day, commonName: "authority" });
    },
  );

  it("are different each time", () => {
    const made = Array.from({ length: 20 }, () => createAuthority("authority", validity).certificate.pem);
    expect(new Set(made.map((pem) => new X509Certificate(pem).serialNumber)).size).toBe(20);
  });
});

describe("PEM", () => {
  const one = createAuthority("one", validity);
  const two = createAuthority("two", validity);

  it("of a bundle contains its certificates in order, without duplicates", () => {
    const text = `# a comment\n${writeBundle([one.certificate, two.certificate, one.certificate])}${one.certificate.pem}`;
    expect(readBundle(text).map((certificate) => certificate.commonName)).toEqual(["one", "two"]);
    expect(readBundle("")).toEqual([]);
  });

  it("of a certificate and its key is read as a pair", () => {
    expect(readKeyPair(one.certificate.pem, one.key)).toEqual(one);
  });

  it("that is broken or does not match is rejected without a quote of its content", () => {
    expect(() => readKeyPair(one.certificate.pem, two.key)).toThrow("the private key does not match the certificate");
    expect(() => readKeyPair(one.certificate.pem, "secret")).toThrow(/^cannot read the private key/);
    expect(() => readCertificate("secret")).toThrow("cannot read the certificate; it must be PEM");
  });
});
