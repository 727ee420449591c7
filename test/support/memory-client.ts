import { type ApiCall, answerCall } from "../../sandbox/requests/api-call.ts";
import type { ApiServer } from "../../sandbox/requests/api-server.ts";
import { ApiError } from "../../src/kube/api/api-failure.ts";
import type { ApiRequest } from "../../src/kube/http/api-request.ts";
import type { ApiClient } from "../../src/kube/http/client.ts";
import { bytesOf } from "./fake-cluster.ts";

/**
 * A client of an API server in this process, without a network. `before` is awaited before each request is answered, so a test decides when
 * that happens. For tests only.
 */
export function memoryClient(
  server: ApiServer,
  before: (request: ApiRequest) => Promise<void> = () => Promise.resolve(),
): ApiClient {
  const request = async <T>(sent: ApiRequest): Promise<T> => {
    await before(sent);
    const { method, path, body } = sent;
    const reply = await answerCall(server, callOf(sent));
    if (reply.type === "watch") throw new Error("this client watches nothing");
    const answer = typeof reply.body === "string" ? JSON.parse(reply.body) : reply.body;
    if (reply.status < 400) return answer as T;
    const { reason, message, details } = answer as { reason: string; message: string; details: undefined };
    const what = `${method} ${path} ${body === undefined ? "" : JSON.stringify(body)}`;
    throw new ApiError({ request: what, status: reply.status, reason, serverMessage: message, details });
  };
  const answeredAt = () => Math.floor(server.registry.clock.wall() / 1000);
  const stream = async (sent: ApiRequest) => Object.assign(bytesOf(await request(sent)), { answeredAt: answeredAt() });
  return { request, stream, close: async () => {} };
}

function callOf({ method, path, query = {}, body, contentType, accept }: ApiRequest): ApiCall {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, `${value}`);
  const headers: Readonly<Record<string, string>> = {
    "content-type": contentType ?? "application/json",
    accept: accept ?? "application/json",
    "user-agent": "test",
  };
  const json = body === undefined ? undefined : JSON.parse(JSON.stringify(body));
  return { method, path, query: parameters, header: (name) => headers[name] ?? "", body: async () => json };
}
