import type { Clock } from "../../lib/clock.ts";
import { ConnectionError } from "../api/errors.ts";

/**
 * Passes chunks on and aborts `silent` when none comes for `limitMs`. One timer for the whole stream. On HTTP/2 pings tell
 * much sooner that nobody is there; this is for HTTP/1.1 and for servers that lost track of a request.
 */
export async function* withIdleTimeout(
  stream: AsyncIterable<Buffer>,
  options: {
    readonly clock: Clock;
    readonly limitMs: number;
    readonly silent: AbortController;
    /** For the error: "watch secrets". */
    readonly what: string;
    /** Called for each chunk. */
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
      else silent.abort(new ConnectionError(`${what}: nothing was heard for ${limitMs / 1000} s`));
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
