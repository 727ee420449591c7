import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";

/** A certificate and the fields of it that Wave uses. */
export interface Certificate {
  readonly pem: string;
  /** SHA-256 of the whole certificate, in hex. It identifies the certificate. */
  readonly fingerprint: string;
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

/** Reads a certificate in DER, or the first one of a PEM text. Throws an Error if there is none. */
export function readCertificate(derOrPem: Buffer | string): Certificate {
  const parsed = parse(derOrPem);
  return {
    pem: parsed.toString(),
    fingerprint: parsed.fingerprint256.replaceAll(":", "").toLowerCase(),
    commonName: /^CN=(.*)$/m.exec(parsed.subject)?.[1] ?? "",
    notBefore: parsed.validFromDate.getTime(),
    notAfter: parsed.validToDate.getTime(),
  };
}

/** Reads all certificates of a PEM text in order, without duplicates. Throws an Error if one cannot be read. */
export function readBundle(pem: string): readonly Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return distinct(blocks.map((block) => readCertificate(block)));
}

/** Returns certificates as one PEM text, without duplicates. */
export function writeBundle(certificates: readonly Certificate[]): string {
  return distinct(certificates)
    .map((certificate) => certificate.pem)
    .join("");
}

/** Reads a certificate and its key from PEM. Throws an Error if one cannot be read or they do not match. */
export function readKeyPair(certificatePem: string, keyPem: string): KeyPair {
  const parsed = parse(certificatePem);
  let key: KeyObject;
  try {
    key = createPrivateKey(keyPem);
  } catch (cause) {
    throw new Error("cannot read the private key; it must be PEM and not encrypted", { cause });
  }
  if (!parsed.checkPrivateKey(key)) throw new Error("the private key does not match the certificate");
  return { certificate: readCertificate(certificatePem), key: keyPem };
}

function parse(derOrPem: Buffer | string): X509Certificate {
  try {
    return new X509Certificate(derOrPem);
  } catch (cause) {
    throw new Error("cannot read the certificate; it must be PEM", { cause });
  }
}

function distinct(certificates: readonly Certificate[]): readonly Certificate[] {
  return [...new Map(certificates.map((certificate) => [certificate.fingerprint, certificate])).values()];
}

/**
 * Reads the certificates of `--webhook-client-ca-file` as one PEM text; undefined without a file.
 * @throws Error of one line with the file and the flag if the file cannot be read or has no certificate.
 */
export async function clientAuthorities(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const failure = (what: string, cause?: unknown) => new Error(`${file} ${what} (--webhook-client-ca-file)`, { cause });
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw failure("cannot be read", cause);
  });
  let bundle: string;
  try {
    bundle = writeBundle(readBundle(text));
  } catch (cause) {
    throw failure("contains a certificate that cannot be read", cause);
  }
  if (bundle === "") throw failure("contains no certificate in PEM");
  return bundle;
}
