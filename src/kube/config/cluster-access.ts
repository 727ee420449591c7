import type { Credentials } from "./credentials.ts";

/** How to reach a cluster, and as whom. */
export interface ClusterConfig {
  readonly server: URL;
  /** The context's namespace, or the Pod's. */
  readonly namespace?: string | undefined;
  /** Where this was found, for messages: "context kind-dev of /home/a/.kube/config". */
  readonly source: string;
  readonly tls: TlsConfig;
  readonly credentials: Credentials;
}

/** Certificates and keys in PEM. */
export interface TlsConfig {
  /** Whom to trust; undefined: the authorities that Node.js trusts. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Accept any certificate. */
  readonly insecure: boolean;
  /** The name to find in the server's certificate, where it is not the server's host name. */
  readonly serverName?: string | undefined;
}
