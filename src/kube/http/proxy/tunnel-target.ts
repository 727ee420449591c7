/** The server at the other end of a tunnel. The host has no brackets. */
export interface TunnelTarget {
  readonly host: string;
  readonly port: number;
}
