import type { Json } from "../../sandbox/objects/json.ts";
import { answerCall } from "../../sandbox/requests/api-call.ts";
import { type ApiServerOptions, startApiServer } from "../../sandbox/requests/api-server.ts";

/** An API server that is asked by calls, without connections. Only tests import this file. */
export interface MemoryServer {
  answer(
    method: string,
    path: string,
    query: URLSearchParams,
    contentType: string,
    body: unknown,
  ): Promise<{ readonly status: number; readonly body: unknown }>;
  /** Hands over every line of a watch from now on, which does not end. */
  watch(path: string, take: (line: string) => void): Promise<void>;
  stop(): void;
}

/** Starts one. */
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
