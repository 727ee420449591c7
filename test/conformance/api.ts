import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

/** The address of an API server and the credentials for it. */
export interface Access {
  readonly server: URL;
  readonly token?: string;
  readonly ca?: string;
}

/** A request of these tests. */
export interface Call {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An object in a response, with only the fields that tests read. */
export interface Body {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly continue?: string;
    readonly remainingItemCount?: number;
    readonly ownerReferences?: readonly { readonly uid: string; readonly kind: string; readonly name: string }[];
    readonly managedFields?: readonly {
      readonly manager: string;
      readonly operation: string;
      readonly subresource?: string;
      readonly time: string;
      readonly fieldsV1: object;
    }[];
  };
  readonly [field: string]: unknown;
}

/** A response. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Body;
}

/** One line of a watch. */
export interface Line {
  readonly type: string;
  readonly object: Body & { readonly code?: number; readonly reason?: string; readonly message?: string };
}

/** A plain HTTP client, so that a statement about the server does not depend on Wave's own client. */
export interface Api {
  call(method: string, path: string, call?: Call): Promise<Reply>;
  /** Yields the lines of a watch as they arrive, until the server ends the watch or the caller stops reading. */
  watch(path: string, query: Readonly<Record<string, string>>): AsyncGenerator<Line, void>;
  close(): void;
}

const noMetadata = { name: "", uid: "", resourceVersion: "", creationTimestamp: "" };

/** Sets the length, because Node otherwise sends the body of a DELETE without framing. */
function framing(text: string, contentType = "application/json"): Record<string, string> {
  return { "content-type": contentType, "content-length": String(Buffer.byteLength(text)) };
}

/** Opens connections when they are needed and keeps them. */
export function connect(access: Access): Api {
  const secure = access.server.protocol === "https:";
  const agent = secure ? new HttpsAgent({ keepAlive: true, ca: access.ca }) : new HttpAgent({ keepAlive: true });
  const open = secure ? httpsRequest : httpRequest;
  const send = (method: string, path: string, { query, body, contentType, headers }: Call) => {
    const url = new URL(path, access.server);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    const request = open(url, {
      method,
      agent,
      headers: {
        "user-agent": "conformance/1",
        accept: "application/json",
        ...(access.token === undefined ? {} : { authorization: `Bearer ${access.token}` }),
        ...(text === undefined ? {} : framing(text, contentType)),
        ...headers,
      },
    });
    request.end(text);
    return request;
  };
  return {
    call(method, path, call = {}) {
      return new Promise((resolve, reject) => {
        const request = send(method, path, call);
        request.on("error", reject);
        request.on("response", (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const text = Buffer.concat(chunks).toString();
            const body = text.startsWith("{") ? parseFirst(text) : { metadata: noMetadata, text };
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
          });
        });
      });
    },
    async *watch(path, query) {
      const request = send("GET", path, { query: { ...query, watch: "1" } });
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request.on("response", resolve);
        request.on("error", reject);
      });
      response.setEncoding("utf8");
      let rest = "";
      // The connection ends when the caller stops reading.
      for await (const chunk of response as AsyncIterable<string>) {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) yield JSON.parse(line) as Line;
      }
    },
    close: () => agent.destroy(),
  };
}

/** Returns the object of a response. For a watch that was read as one response, returns the content of its first line. */
function parseFirst(text: string): Body {
  const end = text.indexOf("}\n{");
  return JSON.parse(end === -1 ? text : text.slice(0, end + 1)) as Body;
}

/** Returns the first `count` lines of a watch; fewer if the server ends the watch earlier. */
export async function take(lines: AsyncGenerator<Line, void>, count: number): Promise<Line[]> {
  const taken: Line[] = [];
  for await (const line of lines) {
    taken.push(line);
    if (taken.length === count) break;
  }
  return taken;
}
