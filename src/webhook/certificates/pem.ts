import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";

/** A certificate and what Wave asks about it. */
export interface Certificate {
  readonly pem: string;
  /** SHA-256 over the whole certificate, in hex: its identity. */
  readonly fingerprint: string;
  /** The common name of its subject. */
  readonly commonName: string;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** A certificate and its private key (PKCS #8, PEM). */
export interface KeyPair {
  readonly certificate: Certificate;
  readonly key: string;
}

/** The certificate in a PEM text (the first one, if there are more). Throws an Error that says so if there is none. */
export function readCertificate(pem: string): Certificate {
  const parsed = parse(pem);
  return {
    pem: parsed.toString(),
    fingerprint: parsed.fingerprint256.replaceAll(":", "").toLowerCase(),
    commonName: /^CN=(.*)$/m.exec(parsed.subject)?.[1] ?? "",
    notBefore: parsed.validFromDate.getTime(),
    notAfter: parsed.validToDate.getTime(),
  };
}

/** Every certificate of a PEM text, in order, once each. Throws an Error if one of them cannot be read. */
export function readBundle(pem: string): readonly Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return distinct(blocks.map(readCertificate));
}

/** These certificates as one PEM text. */
export function writeBundle(certificates: readonly Certificate[]): string {
  return distinct(certificates)
    .map((certificate) => certificate.pem)
    .join("");
}

/** A certificate and key from PEM. Throws an Error if either cannot be read or they do not belong together. */
export function readKeyPair(certificatePem: string, keyPem: string): KeyPair {
  const parsed = parse(certificatePem);
  let key: KeyObject;
  try {
    key = createPrivateKey(keyPem);
  } catch (cause) {
    throw new Error("the private key cannot be read (PEM, not encrypted, is expected)", { cause });
  }
  if (!parsed.checkPrivateKey(key)) throw new Error("the private key does not belong to the certificate");
  return { certificate: readCertificate(certificatePem), key: keyPem };
}

function parse(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new Error("the certificate cannot be read (PEM is expected)", { cause });
  }
}

function distinct(certificates: readonly Certificate[]): readonly Certificate[] {
  return [...new Map(certificates.map((certificate) => [certificate.fingerprint, certificate])).values()];
}
