import type { Clock } from "../../lib/clock.ts";
import { ConnectionError } from "../api/errors.ts";

/**
 * Yields the chunks of a stream and aborts `silent` if no chunk arrives for `limitMs`. Uses one timer for the whole stream. On
 * HTTP/2 pings detect a lost peer much earlier. This timeout is for HTTP/1.1 and for servers that lost a request.
 */
export async function* withIdleTimeout(
  stream: AsyncIterable<Buffer>,
  options: {
    readonly clock: Clock;
    readonly limitMs: number;
    readonly silent: AbortController;
    /** Request for the error, such as "watch secrets". */
    readonly what: string;
    readonly heard?: ((chunk: Buffer) => void) | undefined;
  },
): AsyncGenerator<Buffer> {
  const { clock, limitMs, silent, what, heard } = options;
  let lastHeard = clock.monotonic();
  let cancel = () => {};
  const wait = (ms: number) => {
    cancel = clock.timer(ms, () => {
      const left = lastHeard + limitMs - clock.monotonic();
      if (left > 0) wait(left);
      else silent.abort(new ConnectionError(`${what}: no data for ${limitMs / 1000} s`));
    });
  };
  wait(limitMs);
  try {
    for await (const chunk of stream) {
      lastHeard = clock.monotonic();
      heard?.(chunk);
      yield chunk;
    }
  } finally {
    cancel();
  }
}
