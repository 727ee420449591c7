import { isIP, type Socket } from "node:net";
import { readReply } from "./read-reply.ts";
import type { TunnelTarget } from "./tunnel-target.ts";

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
export async function connectBySocks5(socket: Socket, proxy: URL, target: TunnelTarget): Promise<void> {
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

/** Returns the 16 bytes of an address as a URL writes it: without an IPv4 part, and with at most one `::`. */
function ipv6Bytes(address: string): readonly number[] {
  const [head = "", tail] = address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const [first, last] = [groups(head), groups(tail ?? "")];
  const middle: number[] = new Array(8 - first.length - last.length).fill(0);
  return [...first, ...middle, ...last].flatMap((group) => [group >> 8, group & 0xff]);
}

/** Returns the length of the reply, which ends with an address of any type; undefined if more bytes are needed. */
function replyLength(bytes: Buffer): number | undefined {
  const [, , , type, length] = bytes;
  if (length === undefined) return undefined;
  const address = type === 1 ? 4 : type === 4 ? 16 : 1 + length;
  return 4 + address + 2;
}
