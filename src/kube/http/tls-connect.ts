import type { Socket } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import type { TlsConfig } from "../config/cluster-access.ts";
import { tlsOptions } from "../config/tls-options.ts";

const connectTimeoutMs = 10_000;

/** Opens the tunnel to a server through a proxy. Rejects after 10 s without a response. */
export async function openServerTunnel(server: URL, proxy: URL): Promise<Socket> {
  // Loaded only with a proxy.
  const { openTunnel } = await import("./proxy-tunnel.ts");
  const host = server.hostname.replace(/^\[|\]$/g, "");
  return openTunnel(
    proxy,
    { host, port: Number(server.port) || (server.protocol === "http:" ? 80 : 443) },
    connectTimeoutMs,
  );
}

/** Connects and completes the TLS handshake, with HTTP/2 preferred to HTTP/1.1. Rejects after 10 s without a response. */
export async function connectTls(server: URL, tls: TlsConfig, proxy?: URL): Promise<TLSSocket> {
  const tunnel = proxy && (await openServerTunnel(server, proxy));
  return new Promise((resolve, reject) => {
    const options = { ...tlsOptions(server, tls), ...(tunnel && { socket: tunnel }) };
    const socket = connect({ ...options, ALPNProtocols: ["h2", "http/1.1"] });
    socket.setNoDelay(true);
    socket.setTimeout(connectTimeoutMs, () =>
      socket.destroy(new Error(`no response from ${server.host} within ${connectTimeoutMs / 1000} s`)),
    );
    socket.once("error", reject);
    socket.once("close", () => reject(new Error(`${server.host} closed the connection`)));
    socket.once("secureConnect", () => {
      socket.setTimeout(0);
      socket.off("error", reject);
      resolve(socket);
    });
  });
}
