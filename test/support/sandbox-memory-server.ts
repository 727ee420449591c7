import type { Json } from "../../sandbox/objects/json.ts";
import { answerCall } from "../../sandbox/requests/api-call.ts";
import { type ApiServerOptions, startApiServer } from "../../sandbox/requests/api-server.ts";

/** An API server that is called directly, without connections. For tests only. */
export interface MemoryServer {
  answer(
    method: string,
    path: string,
    query: URLSearchParams,
    contentType: string,
    body: unknown,
  ): Promise<{ readonly status: number; readonly body: unknown }>;
  /** Passes on every line of an endless watch from now on. */
  watch(path: string, take: (line: string) => void): Promise<void>;
  stop(): void;
}

/** Starts a server. */
export function startMemoryServer(options: ApiServerOptions): MemoryServer {
  const server = startApiServer(options);
  const call = (method: string, path: string, query: URLSearchParams, contentType: string, body: unknown) => {
    const header = (name: string) => (name === "content-type" ? contentType : "");
    return answerCall(server, { method, path, query, header, body: async () => body as Json | undefined });
  };
  return {
    answer: async (...request) => {
      const reply = await call(...request);
      if (reply.type !== "answer") throw new Error("a watch is no answer");
      return reply;
    },
    watch: async (path, take) => {
      const reply = await call(
        "GET",
        path,
        new URLSearchParams({ watch: "1", timeoutSeconds: "2000000" }),
        "",
        undefined,
      );
      if (reply.type === "watch") reply.start({ send: take, end: () => {} });
    },
    stop: server.stop,
  };
}
