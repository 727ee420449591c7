// The HTTP server of `wave ui`. It knows no cluster: it protects the page and passes on what others read.
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ModelStream } from "./model-stream.ts";

/** A part of the page, as it is sent. */
export interface PageFile {
  readonly type: string;
  readonly body: Buffer | string;
}

/** The answer to a request for details. */
export interface DetailAnswer {
  readonly status: number;
  readonly body: object;
}

/** The input of {@link startPageServer}. */
export interface PageServerOptions {
  /** 0: the kernel chooses a free port. */
  readonly port: number;
  /** The files of the page, by their names below the token. "" is the page itself. */
  readonly files: ReadonlyMap<string, PageFile>;
  readonly stream: ModelStream;
  /** Answers by name: "workload", "object". */
  readonly details: Readonly<Record<string, (query: URLSearchParams) => Promise<DetailAnswer>>>;
  /** Receives an error that is a bug. */
  readonly onBug: (error: unknown) => void;
}

/** A page that is being served. */
export interface PageServer {
  /** The address with the token, for the person who started the command. */
  readonly url: string;
  close(): Promise<void>;
}

/** What every response has. The page loads nothing from elsewhere, and no other page may show or read it. */
const securityHeaders = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
} as const;

type PageAnswer = PageFile & { readonly status: number };

const text = (status: number, line: string) => ({ status, type: "text/plain; charset=utf-8", body: `${line}\n` });

const answers = {
  forbidden: text(403, "forbidden"),
  notFound: text(404, "not found"),
  notAllowed: text(405, "method not allowed"),
  bug: text(500, "bug in Wave"),
  tooMany: text(503, "too many pages"),
} as const satisfies Readonly<Record<string, PageAnswer>>;

const json = "application/json; charset=utf-8";

/** A request of a browser has no body and some kilobytes of headers. */
const limits = { headersTimeout: 5_000, requestTimeout: 10_000, connectionsCheckingInterval: 1_000 };

/** Maximum number of connections. A browser opens up to six. */
const maxConnections = 100;

/** Serves the page on 127.0.0.1, below a random token that only the user knows. Rejects if the port is in use. */
export async function startPageServer(options: PageServerOptions): Promise<PageServer> {
  const token = randomBytes(24).toString("base64url");
  const hosts = new Set<string>();
  const server = createServer(limits, (request, response) => {
    // A connection that breaks is the browser's affair.
    request.on("error", () => {});
    response.on("error", () => {});
    answer(request, response, hosts, token, options);
  });
  server.maxConnections = maxConnections;
  const port = await listen(server, options.port);
  for (const name of ["127.0.0.1", "localhost"]) hosts.add(`${name}:${port}`);
  return {
    url: `http://127.0.0.1:${port}/${token}/`,
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  hosts: ReadonlySet<string>,
  token: string,
  { files, stream, details, onBug }: PageServerOptions,
): void {
  const end = ({ status, type, body }: PageAnswer) => {
    const length = String(Buffer.byteLength(body));
    response.writeHead(status, {
      ...{ ...securityHeaders, "Content-Type": type, "Content-Length": length },
      ...(status === 405 && { Allow: "GET" }),
    });
    response.end(body);
  };
  const [path = "", query] = (request.url ?? "").split("?", 2);
  const [, given = "", name, ...rest] = path.split("/");
  // A page of another site may have a name that it lets point to 127.0.0.1.
  if (!hosts.has(request.headers.host ?? "")) end(answers.forbidden);
  else if (!isSame(given, token) || name === undefined || rest.length > 0) end(answers.notFound);
  else if (request.method !== "GET") end(answers.notAllowed);
  else if (name === "events") sendEvents(response, stream, () => end(answers.tooMany));
  else if (Object.hasOwn(details, name))
    details[name]?.(new URLSearchParams(query)).then(
      ({ status, body }) => end({ status, type: json, body: JSON.stringify(body) }),
      (error: unknown) => {
        end(answers.bug);
        onBug(error);
      },
    );
  else end(files.has(name) ? { status: 200, ...(files.get(name) as PageFile) } : answers.notFound);
}

/** Compares in constant time, so that the time of an answer shows nothing about the token. */
function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function sendEvents(response: ServerResponse, stream: ModelStream, refuse: () => void): void {
  let begun = false;
  const send = (event: Buffer) => {
    if (!begun) response.writeHead(200, { ...securityHeaders, "Content-Type": "text/event-stream; charset=utf-8" });
    begun = true;
    return response.write(event);
  };
  const subscription = stream.subscribe({ send, close: () => response.destroy() });
  if (subscription === undefined) {
    refuse();
    return;
  }
  response.on("drain", subscription.onDrain);
  response.on("close", subscription.end);
}
