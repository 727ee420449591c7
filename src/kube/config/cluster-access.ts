import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { checkServerIdentity, getCACertificates, type PeerCertificate } from "node:tls";
import type { Section } from "../../lib/yaml-mapping.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import type { Credential, Credentials, Renewable } from "./credentials.ts";

/** Address, TLS settings and credentials of a cluster. */
export interface ClusterConfig {
  readonly server: URL;
  /** Namespace of the context or of the Pod. */
  readonly namespace?: string | undefined;
  /** Source of this configuration, for messages: "context kind-dev of /home/a/.kube/config". */
  readonly source: string;
  /** Read again, like the credentials, when another program replaces the files. */
  readonly tls: Renewable<TlsConfig>;
  /** The proxy to the server: `http`, `https` or `socks5`, with the login in it. Undefined: none. */
  readonly proxy?: URL | undefined;
  readonly credentials: Credentials;
  /** Headers of each request that impersonate another user. Default: none. */
  readonly impersonation?: Credential["headers"];
}

/** Certificates and keys in PEM. */
export interface TlsConfig {
  /** Trusted certificate authorities. Undefined: those of the machine. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Accept any certificate. */
  readonly insecure: boolean;
  /** Expected name in the certificate of the server, if it differs from the host name. It may be an IP address. */
  readonly serverName?: string | undefined;
}

/** SSL_OP_CLEANSE_PLAINTEXT, which Node.js does not name: OpenSSL overwrites what it has decrypted after it was read. */
const cleansePlaintext = 2;

/** Returns TLS options for `tls.connect` and for an HTTPS agent, with the rules of Go and so of kubectl. */
export function tlsOptions(server: URL, tls: TlsConfig) {
  const host = server.hostname.replace(/^\[|\]$/g, "");
  const name = tls.serverName?.replace(/^\[|\]$/g, "") ?? host;
  const ca = tls.ca ?? (tls.insecure ? undefined : machineAuthorities());
  return {
    host,
    port: Number(server.port || 443),
    rejectUnauthorized: !tls.insecure,
    secureOptions: cleansePlaintext,
    // Trusts any certificate of `ca`, also that of an intermediate authority or of the server itself.
    allowPartialTrustChain: true,
    // TLS sends names only, but checks the certificate also for an address.
    servername: isIP(name) === 0 ? name : "",
    checkServerIdentity: (_host: string, certificate: PeerCertificate) => checkServerIdentity(name, certificate),
    ...(ca !== undefined && { ca }),
    ...(tls.cert !== undefined && { cert: tls.cert }),
    ...(tls.key !== undefined && { key: tls.key }),
  };
}

/** Returns this machine's certificate authorities, with `SSL_CERT_FILE` and `SSL_CERT_DIR`; undefined: only those built into Node.js. */
function machineAuthorities(): string[] | undefined {
  const found = new Set([...getCACertificates("system"), ...getCACertificates("extra")]);
  return found.size === 0 ? undefined : [...found];
}

/**
 * Reads the certificates and the key of a cluster and a user in a kubeconfig. `NAME-data` has precedence over the file in `NAME`.
 * @throws ClusterConfigError that names the field if one is missing, unreadable or unusable.
 */
export async function readTls(cluster: Section, user: Section): Promise<TlsConfig> {
  const authority = await readPem(cluster, "certificate-authority");
  const certificate = await readPem(user, "client-certificate");
  const key = await readPem(user, "client-key");
  const insecure = cluster.flag("insecure-skip-tls-verify");
  if (insecure && authority !== undefined) {
    throw cluster.wrong(
      "insecure-skip-tls-verify",
      "cannot be true together with a certificate-authority; remove one of them",
    );
  }
  if (authority !== undefined && !isCertificate(authority.pem)) throw cluster.wrong(authority.field, noCertificate);
  if ((certificate === undefined) !== (key === undefined)) {
    throw user.wrong(
      certificate === undefined ? "client-certificate" : "client-key",
      "is missing; client-certificate and client-key belong together",
    );
  }
  if (certificate !== undefined && key !== undefined) {
    const problem = keyPairProblem(certificate.pem, key.pem);
    if (problem !== undefined) throw user.wrong({ certificate, key }[problem.part].field, problem.what);
  }
  return {
    ca: authority?.pem,
    cert: certificate?.pem,
    key: key?.pem,
    insecure,
    serverName: cluster.text("tls-server-name"),
  };
}

/** The problem of a certificate that cannot be used. It follows the name of a field or file. */
export const noCertificate = "contains no valid certificate in PEM";

/** Reports whether a text begins with a certificate in PEM, possibly after other lines. */
export function isCertificate(pem: string): boolean {
  return parsed(() => new X509Certificate(pem)) !== undefined;
}

/** Returns why a client cannot use a certificate with a key, both in PEM; undefined if it can. TLS itself would ignore some of them. */
export function keyPairProblem(
  cert: string,
  key: string,
): { readonly part: "certificate" | "key"; readonly what: string } | undefined {
  const certificate = parsed(() => new X509Certificate(cert));
  if (certificate === undefined) return { part: "certificate", what: noCertificate };
  if (key.includes("ENCRYPTED")) return { part: "key", what: "is encrypted; use a key without a password" };
  const privateKey = parsed(() => createPrivateKey(key));
  if (privateKey === undefined) return { part: "key", what: "contains no valid private key in PEM" };
  if (certificate.checkPrivateKey(privateKey)) return undefined;
  return { part: "key", what: "does not belong to the client certificate; use the key of this certificate" };
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined; // the message of OpenSSL does not name the problem
  }
}

async function readPem(section: Section, name: string) {
  const inline = section.text(`${name}-data`);
  if (inline !== undefined) return { field: `${name}-data`, pem: Buffer.from(inline, "base64").toString() };
  const path = section.path(name);
  if (path === undefined) return undefined;
  const pem = await readFile(path, "utf8").catch((error) => {
    throw section.wrong(name, `cannot be read: ${errorText(error)}`);
  });
  return { field: name, pem };
}
