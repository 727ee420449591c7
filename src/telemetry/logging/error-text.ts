/**
 * Returns an error as one line: its message and the messages of its causes, joined by colons, without repetitions. The first error
 * in an AggregateError (such as a connection to several addresses) is its cause.
 */
export function errorText(error: unknown): string {
  const messages: string[] = [];
  collectMessages(error, messages, new Set());
  return messages.join(": ").replace(/\s*[\r\n]+\s*/g, " ") || "unknown error";
}

function collectMessages(error: unknown, messages: string[], seen: Set<unknown>): void {
  if (error === undefined || error === null || seen.has(error)) return;
  seen.add(error);
  const message = error instanceof Error ? error.message || ("code" in error ? String(error.code) : "") : String(error);
  if (message !== "" && !messages.some((earlier) => earlier.includes(message))) messages.push(message);
  if (error instanceof AggregateError && error.cause === undefined) collectMessages(error.errors[0], messages, seen);
  if (error instanceof Error) collectMessages(error.cause, messages, seen);
}
