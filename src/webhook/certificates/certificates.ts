import {
  createPrivateKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { isIP } from "node:net";
import { ipv6Bytes } from "../../lib/ipv6-bytes.ts";
import * as der from "./der.ts";
import { type KeyPair, readCertificate } from "./pem.ts";

/**
 * X.509 certificates of one fixed shape (RFC 5280): ECDSA on P-256 with SHA-256, created with node:crypto. A library for this
 * would be the largest part of Wave in memory. contributing/adr/0005-webhook-certificates.md has the figures.
 */

/** Validity period of a certificate, in milliseconds since the epoch. */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

const ids = {
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  commonName: "2.5.4.3",
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
};

/** Bit numbers of KeyUsage (RFC 5280, 4.2.1.3). */
const usages = { digitalSignature: 0, keyCertSign: 5 };

/** Creates a self-signed certificate authority that may sign serving certificates, but no other authorities. */
export function createAuthority(commonName: string, validity: Validity): KeyPair {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keyIdentifier = identifierOf(keys.publicKey);
  return issue({
    subject: commonName,
    keys,
    issuer: { commonName, key: keys.privateKey },
    validity,
    extensions: [
      extension(
        ids.basicConstraints,
        der.sequence(der.booleanTrue(), der.unsignedInteger(Buffer.from([0]))),
        "critical",
      ),
      extension(ids.keyUsage, der.namedBits(usages.digitalSignature, usages.keyCertSign), "critical"),
      extension(ids.subjectKeyIdentifier, der.octetString(keyIdentifier)),
      extension(ids.authorityKeyIdentifier, der.sequence(der.implicit(0, keyIdentifier))),
    ],
  });
}

/**
 * Creates a key and a certificate for a TLS server, signed by `authority`. `hosts` are its DNS names and IP addresses, at least
 * one. The caller keeps `validity` within that of the authority.
 */
export function issueServingCertificate(authority: KeyPair, hosts: readonly string[], validity: Validity): KeyPair {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const authorityKey = createPrivateKey(authority.key);
  const authorityIdentifier = identifierOf(new X509Certificate(authority.certificate.pem).publicKey);
  return issue({
    // Clients check the subjectAltName only. A fixed subject cannot exceed the 64 characters of a common name.
    subject: "wave-webhook",
    keys,
    issuer: { commonName: authority.certificate.commonName, key: authorityKey },
    validity,
    extensions: [
      extension(ids.basicConstraints, der.sequence(), "critical"),
      extension(ids.keyUsage, der.namedBits(usages.digitalSignature), "critical"),
      extension(ids.extendedKeyUsage, der.sequence(der.objectIdentifier(ids.serverAuth))),
      extension(ids.subjectAltName, der.sequence(...hosts.map(generalName))),
      extension(ids.subjectKeyIdentifier, der.octetString(identifierOf(keys.publicKey))),
      extension(ids.authorityKeyIdentifier, der.sequence(der.implicit(0, authorityIdentifier))),
    ],
  });
}

interface CertificateTemplate {
  readonly subject: string;
  readonly keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly issuer: { readonly commonName: string; readonly key: KeyObject };
  readonly validity: Validity;
  readonly extensions: readonly Buffer[];
}

/** Certificate, TBSCertificate: RFC 5280, 4.1. */
function issue({ subject, keys, issuer, validity, extensions }: CertificateTemplate): KeyPair {
  const algorithm = der.sequence(der.objectIdentifier(ids.ecdsaWithSha256));
  const content = der.sequence(
    der.explicit(0, der.unsignedInteger(Buffer.from([2]))), // version 3
    der.unsignedInteger(randomBytes(16)),
    algorithm,
    name(issuer.commonName),
    der.sequence(der.time(validity.notBefore), der.time(validity.notAfter)),
    name(subject),
    keys.publicKey.export({ type: "spki", format: "der" }),
    der.explicit(3, der.sequence(...extensions)),
  );
  const signature = sign("sha256", content, issuer.key);
  const bytes = der.sequence(content, algorithm, der.bitString(signature));
  return {
    certificate: readCertificate(bytes),
    key: keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function name(commonName: string): Buffer {
  return der.sequence(der.setOf(der.sequence(der.objectIdentifier(ids.commonName), der.utf8String(commonName))));
}

function extension(id: string, value: Buffer, critical?: "critical"): Buffer {
  const parts = [der.objectIdentifier(id), ...(critical ? [der.booleanTrue()] : []), der.octetString(value)];
  return der.sequence(...parts);
}

/** Encodes a host, as a URL writes it, as an entry of subjectAltName: an IP address as 4 or 16 bytes, or a DNS name. */
function generalName(host: string): Buffer {
  switch (isIP(host)) {
    case 4:
      return der.implicit(7, Buffer.from(host.split(".").map(Number)));
    case 6:
      return der.implicit(7, Buffer.from(ipv6Bytes(host)));
    default:
      return der.implicit(2, Buffer.from(host, "ascii"));
  }
}

/** Returns the 160 leftmost bits of the SHA-256 of the public key, as RFC 7093 allows. */
function identifierOf(publicKey: KeyObject): Buffer {
  return hash("sha256", publicKey.export({ type: "spki", format: "der" }), "buffer").subarray(0, 20);
}
