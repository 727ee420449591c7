import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createSecureServer, type Http2SecureServer, type SecureServerOptions } from "node:http2";
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Test certificates in PEM: an authority, a server for 127.0.0.1 and wave.test, and clients. */
export interface TestCertificates {
  readonly ca: string;
  readonly server: { readonly cert: string; readonly key: string };
  /** A server whose certificate an issuing authority has signed. The server sends both certificates. `ca` signed the other one. */
  readonly chain: { readonly issuing: string; readonly leaf: string; readonly cert: string; readonly key: string };
  readonly client: (user: string) => { readonly cert: string; readonly key: string };
}

/** Creates the certificates with openssl. */
export function makeCertificates(): TestCertificates {
  const folder = mkdtempSync(join(tmpdir(), "wave-test-certificates-"));
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  openssl("req", "-x509", ...newKey, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=test-ca");
  const issueBy = (issuer: string, name: string, ...extra: string[]) => {
    const authority = ["-CA", `${issuer}.crt`, "-CAkey", `${issuer}.key`];
    openssl("req", "-x509", ...newKey, ...authority, "-keyout", `${name}.key`, "-out", `${name}.crt`, ...extra);
    return { cert: read(`${name}.crt`), key: read(`${name}.key`) };
  };
  const issue = (name: string, ...extra: string[]) => issueBy("ca", name, ...extra);
  const names = "subjectAltName=IP:127.0.0.1,DNS:wave.test";
  const serving = ["-subj", "/CN=server", "-addext", names, "-addext", "basicConstraints=CA:FALSE"];
  const server = issue("server", ...serving);
  const issuing = issue("issuing", "-subj", "/CN=issuing").cert;
  const leaf = issueBy("issuing", "leaf", ...serving);
  const clients = new Map(["a", "b"].map((user) => [user, issue(user, "-subj", `/CN=${user}`)]));
  const ca = read("ca.crt");
  rmSync(folder, { recursive: true });
  return {
    ca,
    server,
    chain: { issuing, leaf: leaf.cert, cert: leaf.cert + issuing, key: leaf.key },
    client: (user) => {
      const found = clients.get(user);
      if (found === undefined) throw new Error(`no certificate for user ${user}`);
      return found;
    },
  };
}

/** A server on a port of 127.0.0.1, with its connections so that a test can break them. */
export interface Listening<S> {
  readonly server: S;
  readonly port: number;
  readonly sockets: ReadonlySet<Socket>;
  readonly close: () => Promise<void>;
}

/** Listens on a free port. */
export async function listen<S extends Server | Http2SecureServer | TcpServer>(server: S): Promise<Listening<S>> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { server, port, sockets, close };
}

/** HTTP/1.1 without TLS. */
export function serveHttp(listener: RequestListener): Promise<Listening<Server>> {
  return listen(createServer(listener));
}

/** HTTP/2 over TLS. */
export function serveHttp2(options: SecureServerOptions): Promise<Listening<Http2SecureServer>> {
  return listen(createSecureServer(options));
}

/** A proxy between client and server. */
export interface TcpProxy extends Listening<TcpServer> {
  /** Accepts all data from now on and forwards nothing, like a host that was switched off. */
  readonly goSilent: () => void;
  /** Forwards again, for new connections. */
  readonly forward: () => void;
}

/** Forwards to a port of 127.0.0.1. */
export async function proxyTo(port: number): Promise<TcpProxy> {
  let silent = false;
  let silences = 0;
  const server = createTcpServer((inward) => {
    if (silent) return;
    const outward = connect(port, "127.0.0.1");
    const mine = silences;
    const carry = (from: Socket, to: Socket) => {
      from.on("data", (chunk) => void (mine === silences && to.write(chunk)));
      from.on("error", () => {}).once("close", () => void (mine === silences && to.destroy()));
    };
    carry(inward, outward);
    carry(outward, inward);
  });
  const listening = await listen(server);
  const goSilent = () => {
    silent = true;
    silences += 1;
  };
  const forward = () => {
    silent = false;
  };
  return { ...listening, goSilent, forward };
}
