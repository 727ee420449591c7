import type { Credentials, Renewable } from "./credentials.ts";

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
