/** A mistake in how a command was called: one line for a person, no stack, exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
