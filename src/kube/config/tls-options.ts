import { isIP } from "node:net";
import { checkServerIdentity, getCACertificates, type PeerCertificate } from "node:tls";
import type { TlsConfig } from "./cluster-access.ts";

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

/**
 * Returns the certificate authorities that this machine trusts, with `SSL_CERT_FILE` and `SSL_CERT_DIR`; undefined if there are
 * none. Node.js itself trusts those that are built in.
 */
function machineAuthorities(): string[] | undefined {
  const found = new Set([...getCACertificates("system"), ...getCACertificates("extra")]);
  return found.size === 0 ? undefined : [...found];
}
