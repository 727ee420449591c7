import { type Asked, answerCall, askedBy, refusal } from "../requests/api-call.ts";
import type { ApiServer } from "../requests/api-server.ts";
import { carryOutFault } from "./fault-effects.ts";
import type { FaultRules } from "./faults.ts";
import { type HttpRequest, type HttpResponse, header, readBody, sendAnswer } from "./http-messages.ts";
import { streamLines } from "./watch-stream.ts";

/** One request that the sandbox answered, in Kubernetes' words; a watch counts when it starts. */
export interface SandboxRequest {
  readonly verb: string;
  /** The plural of the kind; the path if it names no kind. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
  readonly userAgent: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What answers requests. */
export interface ApiService extends Pick<ApiServer, "registry" | "bookmarkMs"> {
  readonly faults: FaultRules;
  readonly record: (request: SandboxRequest) => void;
}

/** Answers one request. Never rejects: what goes wrong is the answer. */
export async function serve(service: ApiService, request: HttpRequest, response: HttpResponse): Promise<void> {
  const { pathname: path, searchParams: query } = new URL(request.url ?? "/", "http://sandbox");
  const method = request.method ?? "GET";
  const call = { method, path, query, header: header.bind(undefined, request), body: () => readBody(request) };
  const asked = askedBy(call);
  const record = (status: number) => service.record(recorded(service, request, asked, status));
  try {
    const fault = service.faults.take({ method, path, query });
    if (fault !== undefined && !(await carryOutFault(fault, service.registry.clock, request, response))) {
      record(0);
      return;
    }
    const reply = await answerCall(service, call, asked);
    if (reply.type === "watch") streamLines(reply.start, response);
    else {
      response.setHeader("date", new Date(service.registry.clock.wall()).toUTCString());
      sendAnswer(response, reply);
    }
    record(reply.type === "watch" ? 200 : reply.status);
  } catch (error) {
    const reply = refusal(error);
    record(reply.status);
    sendAnswer(response, reply);
  }
}

function recorded(service: ApiService, request: HttpRequest, { verb, target }: Asked, status: number): SandboxRequest {
  const common = { verb, status, userAgent: header(request, "user-agent"), at: service.registry.clock.wall() };
  if (target.type === "path") return { ...common, resource: target.path };
  const { resource, namespace, name, subresource } = target;
  return {
    ...common,
    resource: resource.plural,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}
