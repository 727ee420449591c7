import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Model, Update } from "../../src/cli/ui/model.ts";
import { buildPage } from "../../ui/build.ts";
import { applyUpdate } from "../../ui/src/source/apply-update.ts";
import { recordedObject, recordedTimeline, recordedWorkload } from "./recorded-model.ts";

/** The headers of `wave ui`, as docs/ui.md describes them. */
const headers = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

const types = { html: "text/html", css: "text/css", js: "text/javascript" } as const;

/** A server that plays a model as `wave ui` does. */
export interface PageServer extends AsyncDisposable {
  readonly url: string;
  /** The model now. The next stream begins with it. */
  readonly model: () => Model;
  /** Replaces rows, and sends the difference to each stream. `null` removes a row. */
  readonly change: (rows: Extract<Update, { readonly type: "difference" }>["rows"]) => void;
  /** Ends all streams, and refuses new ones until {@link PageServer.resume}. */
  readonly cut: () => void;
  readonly resume: () => void;
}

/** The page, built once for all tests of a file. */
let built: ReturnType<typeof buildPage> | undefined;

/** Serves the page and a model on 127.0.0.1. `now` is the time of what the server reports, in milliseconds since the epoch. */
export async function servePage(start: Model, now = () => Date.now()): Promise<PageServer> {
  built ??= buildPage();
  const files = await built;
  const streams = new Set<ServerResponse>();
  const sockets = new Set<Socket>();
  let model = start;
  let isCut = false;

  const send = (response: ServerResponse, update: Update) => response.write(`data: ${JSON.stringify(update)}\n\n`);
  const json = (response: ServerResponse, answer: unknown) =>
    response.writeHead(200, { ...headers, "content-type": "application/json" }).end(JSON.stringify(answer));

  const answer = ({ url = "/" }: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams: query } = new URL(url, "http://127.0.0.1");
    const name = pathname.replace(/^\/token\//, "");
    const file = name === "" ? "page.html" : name;
    const text = files[file];
    if (text !== undefined) {
      const type = types[file.split(".")[1] as keyof typeof types];
      return response.writeHead(200, { ...headers, "content-type": `${type}; charset=utf-8` }).end(text);
    }
    switch (name) {
      case "events":
        if (isCut) return response.destroy();
        response.writeHead(200, { ...headers, "content-type": "text/event-stream" });
        streams.add(response.on("close", () => streams.delete(response)));
        response.write("retry: 100\n\n");
        return send(response, { type: "model", at: now(), model });
      case "workload": {
        const row = model.workloads[query.get("id") ?? ""];
        return row === undefined
          ? response.writeHead(404, headers).end('{"error":"The workload is gone."}')
          : json(response, recordedWorkload(row, now()));
      }
      case "object":
        return json(response, recordedObject(model, query.get("namespace") ?? "", query.get("object") ?? ""));
      case "timeline": {
        const namespace = query.get("namespace") ?? "";
        const since = Number(query.get("since"));
        const entries = recordedTimeline(now()).filter(
          (entry) =>
            (entry.endedAt ?? Number.POSITIVE_INFINITY) >= since && (namespace === "" || entry.namespace === namespace),
        );
        return json(response, { entries });
      }
      default:
        return response.writeHead(404, headers).end();
    }
  };

  const server = createServer(answer);
  server.on("connection", (socket) => sockets.add(socket.on("close", () => sockets.delete(socket))));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token/`,
    model: () => model,
    change: (rows) => {
      const update: Update = { type: "difference", at: now(), rows };
      model = applyUpdate(model, update);
      for (const stream of streams) send(stream, update);
    },
    cut: () => {
      isCut = true;
      for (const stream of streams) stream.destroy();
    },
    resume: () => {
      isCut = false;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
