// Tunnels to a server through a proxy: HTTP CONNECT and SOCKS5. Loaded only if a proxy is configured.
/** This folder opens tunnels through HTTP and SOCKS5 proxies. It knows nothing of the requests in them. */
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import { tlsOptions } from "../../config/tls-options.ts";
import { connectByHttp } from "./http-connect.ts";
import { connectBySocks5 } from "./socks5.ts";
import type { TunnelTarget } from "./tunnel-target.ts";

/**
 * Opens a tunnel through a proxy and returns the socket in it. Rejects if there is none within `timeoutMs`. The error names the
 * proxy without its password.
 */
export async function openTunnel(proxy: URL, target: TunnelTarget, timeoutMs: number): Promise<Socket> {
  const socket = connectToProxy(proxy);
  // Until the tunnel is open, an error also rejects the read that waits.
  socket.on("error", () => {});
  const limit = setTimeout(() => socket.destroy(new Error(`no response within ${timeoutMs / 1000} s`)), timeoutMs);
  try {
    await connected(socket, proxy.protocol === "https:" ? "secureConnect" : "connect");
    await (proxy.protocol.startsWith("socks5") ? connectBySocks5 : connectByHttp)(socket, proxy, target);
    return socket;
  } catch (error) {
    socket.destroy();
    throw new Error(`proxy ${proxy.protocol}//${proxy.host}: ${errorText(error)}`, { cause: error });
  } finally {
    clearTimeout(limit);
  }
}

function connectToProxy(proxy: URL): Socket {
  if (proxy.protocol === "https:") return connectTls(tlsOptions(proxy, { insecure: false }));
  const host = proxy.hostname.replace(/^\[|\]$/g, "");
  return connectTcp({ host, port: Number(proxy.port) || (proxy.protocol === "http:" ? 80 : 1080) });
}

function connected(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve());
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("it closed the connection")));
  });
}
