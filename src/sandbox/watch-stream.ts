import { type HttpRequest, type HttpResponse, header } from "./http-messages.ts";
import type { Scope } from "./list.ts";
import type { Registry } from "./registry.ts";
import { representationOf, watchRepresentation } from "./representation.ts";
import { startWatch } from "./watch.ts";

/** A watcher that reads nothing for so many bytes is cut off. */
const maxBacklogBytes = 64 * 1024 * 1024;

/** Answers a watch with one JSON object a line until its time is over or the client goes. Throws a `StatusError` before it starts. */
export function streamWatch(
  { registry, bookmarkMs }: { readonly registry: Registry; readonly bookmarkMs: number },
  scope: Scope,
  request: HttpRequest,
  response: HttpResponse,
): void {
  const { clock, random, storage } = registry;
  const form = representationOf(header(request, "accept"), scope.query);
  const represent = watchRepresentation(form, scope.resource, clock.wall);
  // What is there already waits until the head of the answer is out.
  const lines: string[] = [];
  let started = false;
  const write = (line: string) => {
    if (!started) lines.push(line);
    else if (response.writableLength > maxBacklogBytes) response.destroy();
    else writeTo(response, line);
  };
  let ended = false;
  const sink = {
    send: (event: Parameters<typeof represent>[0]) => write(`${JSON.stringify(represent(event))}\n`),
    end: () => {
      ended = true;
      if (started) response.end();
    },
  };
  const stop = startWatch(storage, scope, { clock, random, bookmarkMs }, sink);
  response.on("close", stop);
  started = true;
  response.statusCode = 200;
  response.setHeader("content-type", "application/json");
  if ("flushHeaders" in response) response.flushHeaders();
  for (const line of lines) writeTo(response, line);
  if (ended) response.end();
}

function writeTo(response: HttpResponse, line: string): void {
  // The two kinds of response have the same method under types that do not unite.
  if ("stream" in response) response.write(line);
  else response.write(line);
}
