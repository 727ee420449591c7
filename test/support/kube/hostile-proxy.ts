import { type IncomingMessage, type Server, type ServerResponse, request as send } from "node:http";
import { text } from "node:stream/consumers";
import { type Listening, serveHttp } from "./server.ts";

/** Stands for {@link hostileText} in objects, because an API server accepts this word in every name. */
export const marker = "evil-name";

/** A text that erases a screen, starts a line, changes colors and direction, and hides characters. */
export const hostileText = "EVIL\u001b[31m\u009b2J\u0007\r\u202e\u2066\u200b\u2028\t\nFORGED-all-is-well";

/** Matches the part of an output that a terminal would execute. A line feed is found by the forged line that it starts. */
export const hostileOutput = new RegExp(
  ["EVIL\\x1b\\[", "(?!\\x1b\\[[\\d;]*m)[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}](?<!\\n)", "(?:^|[\\r\\n])\\s*FORGED"].join("|"),
  "u",
);

/** A proxy that makes an API server hostile. */
export interface HostileProxy extends Listening<Server> {
  readonly url: string;
  /** Returns the status of an answer with a hostile message; undefined for a request that the API server answers, as by default. */
  rejects: (request: { readonly method: string; readonly path: string }) => 403 | 404 | undefined;
}

const escapedText = JSON.stringify(hostileText).slice(1, -1);

/** Starts a proxy before an HTTP API server that writes {@link hostileText} instead of {@link marker} in each response, and the marker instead of the text in each request. */
export async function startHostileProxy(server: string): Promise<HostileProxy> {
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "GET", url = "/", headers } = request;
    const rejected = proxy.rejects({ method, path: url });
    if (rejected !== undefined) return reject(response, rejected);
    const path = url.replaceAll(encodeURIComponent(hostileText), marker);
    const body = (await text(request)).replaceAll(escapedText, marker);
    const { "accept-encoding": _coding, "content-length": _length, ...kept } = headers;
    const onward = send(server + path, { method, headers: { ...kept, "content-length": Buffer.byteLength(body) } });
    onward.on("error", () => response.destroy());
    onward.on("response", (answer) => {
      const { "content-length": _size, "transfer-encoding": _framing, ...rest } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, rest);
      replaceByLine(answer, response);
    });
    response.on("close", () => onward.destroy());
    onward.end(body);
  };
  const listening = await serveHttp(
    (request, response) => void forward(request, response).catch(() => response.destroy()),
  );
  const proxy: HostileProxy = { ...listening, url: `http://127.0.0.1:${listening.port}`, rejects: () => undefined };
  return proxy;
}

/** A watch sends one object per line, so that no marker is split. */
function replaceByLine(from: IncomingMessage, to: ServerResponse): void {
  let rest = "";
  from.setEncoding("utf8");
  from.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) to.write(`${line.replaceAll(marker, escapedText)}\n`);
  });
  from.on("end", () => to.end(rest.replaceAll(marker, escapedText)));
  from.on("error", () => to.destroy());
}

function reject(response: ServerResponse, code: number): void {
  const reason = code === 404 ? "NotFound" : "Forbidden";
  const status = { kind: "Status", status: "Failure", code, reason, message: `rejected: ${hostileText}` };
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(status));
}
