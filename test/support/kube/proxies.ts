import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import { type Listening, listen } from "./server.ts";

/** A proxy for tests that forwards every tunnel to one port of 127.0.0.1. */
export interface TunnelProxy extends Listening<Server> {
  /** What clients requested, as HOST:PORT, with the login before it if they sent one. */
  readonly requested: readonly string[];
}

/** Starts an HTTP proxy. It responds with 407 to a login other than `login`, in the form of a URL. */
export async function startHttpProxy(to: number, login?: string): Promise<TunnelProxy> {
  const requested: string[] = [];
  const server = createHttpServer((_, response) => response.writeHead(405).end());
  server.on("connect", ({ url, headers }, socket: Socket) => {
    const [, encoded = ""] = headers["proxy-authorization"]?.split(" ") ?? [];
    const given = Buffer.from(encoded, "base64").toString();
    requested.push(given === "" ? `${url}` : `${given}@${url}`);
    if (given !== (login ?? "")) return socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    socket.write("HTTP/1.1 200 Connection established\r\nX-Proxy: a\r\n\r\n");
    return forward(socket, to);
  });
  return { ...(await listen(server)), requested };
}

/** Starts a SOCKS5 proxy for names, IPv4 and IPv6. It rejects a login other than `login`, in the form of a URL. */
export async function startSocksProxy(to: number, login?: string): Promise<TunnelProxy> {
  const requested: string[] = [];
  const serve = async (socket: Socket): Promise<void> => {
    const read = async (length: number): Promise<Buffer> => {
      for (;;) {
        const bytes: Buffer | null = socket.read(length);
        if (bytes !== null) return bytes;
        await new Promise((resolve) => socket.once("readable", resolve));
      }
    };
    const [, methods = 0] = await read(2);
    const offered = await read(methods);
    const method = login === undefined ? 0 : 2;
    socket.write(Buffer.from([5, offered.includes(method) ? method : 0xff]));
    if (!offered.includes(method)) return void socket.end();
    const text = async () => (await read((await read(1))[0] ?? 0)).toString();
    let given = "";
    if (login !== undefined) {
      await read(1);
      given = `${await text()}:${await text()}`;
      socket.write(Buffer.from([1, given === login ? 0 : 1]));
      if (given !== login) return void socket.end();
    }
    const [, , , type] = await read(4);
    const hex = async () => (await read(16)).toString("hex").replaceAll(/(.{4})(?!$)/g, "$1:");
    const host = type === 3 ? await text() : type === 4 ? `[${await hex()}]` : [...(await read(4))].join(".");
    requested.push(`${given && `${given}@`}${host}:${(await read(2)).readUInt16BE()}`);
    socket.write(Buffer.from([5, 0, 0, 3, 4, ...Buffer.from("name"), 0, 80]));
    forward(socket, to);
  };
  return { ...(await listen(createServer((socket) => void serve(socket)))), requested };
}

function forward(inward: Socket, to: number): void {
  const outward = connect(to, "127.0.0.1");
  outward.on("error", () => inward.destroy()).pipe(inward);
  inward.on("error", () => outward.destroy()).pipe(outward);
  inward.once("close", () => outward.destroy());
}
