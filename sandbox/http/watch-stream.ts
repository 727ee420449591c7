import type { LineSink } from "../requests/api-call.ts";
import type { HttpResponse } from "./http-messages.ts";

/** A watcher that reads nothing for so many bytes is cut off. */
const maxBacklogBytes = 64 * 1024 * 1024;

/** Answers a watch line by line until its time is over or the client goes. Throws what `start` throws. */
export function streamLines(start: (sink: LineSink) => () => void, response: HttpResponse): void {
  // What is there already waits until the head of the answer is out.
  const lines: string[] = [];
  let started = false;
  let ended = false;
  const stop = start({
    send: (line) => {
      if (!started) lines.push(line);
      else if (response.writableLength > maxBacklogBytes) response.destroy();
      else writeTo(response, line);
    },
    end: () => {
      ended = true;
      if (started) response.end();
    },
  });
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
  if ("stream" in response) response.write(`${line}\n`);
  else response.write(`${line}\n`);
}
