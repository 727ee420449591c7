import { carryOutFault } from "./fault-effects.ts";
import type { FaultRules } from "./faults.ts";
import { type HttpRequest, type HttpResponse, header, readBody, send } from "./http-messages.ts";
import { sendPath } from "./non-resource-paths.ts";
import type { Registry } from "./registry.ts";
import { isTrue, parseTarget, type Target, verbOf } from "./request-info.ts";
import { StatusError } from "./status-error.ts";
import { answer } from "./verbs.ts";
import { streamWatch } from "./watch-stream.ts";

/** One request that the sandbox answered, in Kubernetes' words; a watch counts when it starts. */
export interface SandboxRequest {
  readonly verb: string;
  /** The plural of the kind; the path where it names none. */
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
export interface ApiService {
  readonly registry: Registry;
  readonly faults: FaultRules;
  readonly bookmarkMs: number;
  readonly record: (request: SandboxRequest) => void;
}

/** Answers one request. Never rejects: what goes wrong is the answer. */
export async function serve(service: ApiService, request: HttpRequest, response: HttpResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://sandbox");
  const method = request.method ?? "GET";
  const target = parseTarget(url.pathname);
  const named = target.type === "resource" && target.name !== undefined;
  const verb = verbOf(method, named, isTrue(url.searchParams.get("watch")));
  const record = (status: number) => service.record(recorded(service, request, target, verb, status));
  try {
    const fault = service.faults.take({ method, path: url.pathname, query: url.searchParams });
    if (fault !== undefined && !(await carryOutFault(fault, service.registry.clock, request, response))) {
      record(0);
      return;
    }
    if (target.type === "path") {
      sendPath(url.pathname, method, request, response);
      record(200);
      return;
    }
    if (verb === "watch") {
      const scope = { resource: target.resource, namespace: target.namespace, query: watchQuery(url, target.name) };
      streamWatch(service, scope, request, response);
      record(200);
      return;
    }
    const body = method === "GET" ? undefined : await readBody(request);
    const warnings: string[] = [];
    const { status, body: result } = answer(service.registry, {
      verb,
      target,
      query: url.searchParams,
      accept: header(request, "accept"),
      contentType: header(request, "content-type"),
      userAgent: header(request, "user-agent"),
      body,
      warn: (text) => warnings.push(`299 - ${JSON.stringify(text)}`),
    });
    if (warnings.length > 0) response.setHeader("warning", warnings);
    record(status);
    send(response, status, result);
  } catch (error) {
    const refused = error instanceof StatusError ? error : new StatusError(500, "InternalError", String(error), {});
    record(refused.code);
    send(response, refused.code, refused.body());
  }
}

/** A watch of one name is a watch with a field selector. */
function watchQuery({ searchParams }: URL, name: string | undefined): URLSearchParams {
  if (name !== undefined) searchParams.set("fieldSelector", `metadata.name=${name}`);
  return searchParams;
}

function recorded(
  service: ApiService,
  request: HttpRequest,
  target: Target,
  verb: string,
  status: number,
): SandboxRequest {
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
