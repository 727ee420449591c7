// Tunnels to a server through a proxy: HTTP CONNECT and SOCKS5. Loaded only if a proxy is configured. Knows nothing of the requests in them.
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { ipv6Bytes } from "../../lib/ipv6-bytes.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { tlsOptions } from "../config/cluster-access.ts";

/** Opens a tunnel through a proxy, within `timeoutMs`, and returns its socket. Errors name the proxy without its password. */
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

/** Requests a tunnel from an HTTP proxy (RFC 9110, 9.3.6). Rejects if the proxy refuses. */
async function connectByHttp(socket: Socket, proxy: URL, { host, port }: TunnelTarget): Promise<void> {
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

const version = 5;
const noLogin = 0;
const passwordLogin = 2;

/** The reasons of a refusal by their number (RFC 1928, 6). */
const refusals = [
  "",
  "it failed",
  "its rules do not allow the connection",
  "the network is unreachable",
  "the host is unreachable",
  "the connection was refused",
];

/** Requests a tunnel from a SOCKS5 proxy (RFC 1928, and RFC 1929 for the login). Rejects if the proxy refuses. */
async function connectBySocks5(socket: Socket, proxy: URL, target: TunnelTarget): Promise<void> {
  const login = proxy.username !== "";
  socket.write(Buffer.from(login ? [version, 2, noLogin, passwordLogin] : [version, 1, noLogin]));
  const [answered, method] = await readReply(socket, () => 2);
  if (answered !== version) throw new Error("it is not a SOCKS5 proxy");
  if (method === passwordLogin && login) await logIn(socket, proxy);
  else if (method !== noLogin) throw new Error("it requires another way to log in");

  const port = [target.port >> 8, target.port & 0xff];
  socket.write(Buffer.from([version, 1, 0, ...addressBytes(target.host), ...port]));
  const reply = await readReply(socket, (bytes) => replyLength(bytes));
  const status = reply[1] ?? 1;
  if (status !== 0) throw new Error(refusals[status] ?? `it refused the connection with code ${status}`);
}

async function logIn(socket: Socket, { username, password }: URL): Promise<void> {
  const [name, secret] = [username, password].map((text) => Buffer.from(decodeURIComponent(text)));
  if (name === undefined || secret === undefined || name.length > 255 || secret.length > 255) {
    throw new Error("user name or password is longer than 255 bytes");
  }
  socket.write(Buffer.concat([Buffer.from([1, name.length]), name, Buffer.from([secret.length]), secret]));
  const [, status] = await readReply(socket, () => 2);
  if (status !== 0) throw new Error("it rejected user name and password");
}

/** The type of an address and its bytes. The proxy resolves names. */
function addressBytes(host: string): readonly number[] {
  if (isIP(host) === 4) return [1, ...host.split(".").map(Number)];
  if (isIP(host) === 6) return [4, ...ipv6Bytes(host)];
  const name = Buffer.from(host);
  if (name.length > 255) throw new Error("the name of the server is longer than 255 bytes");
  return [3, name.length, ...name];
}

/** Returns the length of the reply, which ends with an address of any type; undefined if more bytes are needed. */
function replyLength(bytes: Buffer): number | undefined {
  const [, , , type, length] = bytes;
  if (length === undefined) return undefined;
  const address = type === 1 ? 4 : type === 4 ? 16 : 1 + length;
  return 4 + address + 2;
}

/** The server at the other end of a tunnel. The host has no brackets. */
interface TunnelTarget {
  readonly host: string;
  readonly port: number;
}

/** Maximum reply of a proxy, in bytes. */
const maxReplyBytes = 16 * 1024;

/**
 * Returns the first bytes of a socket, as many as `length` finds in the bytes so far; it returns undefined if it needs more. The
 * bytes after them stay in the socket. Rejects if the socket ends before, or the reply is too long.
 */
async function readReply(socket: Socket, length: (bytes: Buffer) => number | undefined): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const needed = length(bytes);
    if (needed !== undefined && needed <= bytes.length) {
      if (needed < bytes.length) socket.unshift(bytes.subarray(needed));
      return bytes.subarray(0, needed);
    }
    if (bytes.length > maxReplyBytes) throw new Error("its response is too long");
    bytes = Buffer.concat([bytes, await nextChunk(socket)]);
  }
}

function nextChunk(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      const chunk: Buffer | null = socket.read();
      if (chunk !== null) return done(() => resolve(chunk));
      if (socket.readableEnded || socket.destroyed) done(() => reject(new Error("it closed the connection")));
    };
    const fail = (error: Error) => done(() => reject(error));
    const done = (act: () => void) => {
      socket.off("readable", settle).off("end", settle).off("close", settle).off("error", fail);
      act();
    };
    socket.on("readable", settle).on("end", settle).on("close", settle).on("error", fail);
    settle();
  });
}
