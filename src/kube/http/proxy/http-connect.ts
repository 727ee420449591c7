import type { Socket } from "node:net";
import { readReply } from "./read-reply.ts";
import type { TunnelTarget } from "./tunnel-target.ts";

/** Requests a tunnel from an HTTP proxy (RFC 9110, 9.3.6). Rejects if the proxy refuses. */
export async function connectByHttp(socket: Socket, proxy: URL, { host, port }: TunnelTarget): Promise<void> {
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  if (proxy.username !== "") {
    const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
    lines.push(`Proxy-Authorization: Basic ${Buffer.from(login).toString("base64")}`);
  }
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const reply = await readReply(socket, (bytes) => {
    const end = bytes.indexOf("\r\n\r\n");
    return end === -1 ? undefined : end + 4;
  });
  const [, status = ""] = /^HTTP\/1\.[01] (\d{3})/.exec(reply.toString("latin1")) ?? [];
  if (!status.startsWith("2"))
    throw new Error(status === "" ? "it is not an HTTP proxy" : `it responded with ${status}`);
}
