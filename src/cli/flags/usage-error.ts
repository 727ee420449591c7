/** A mistake in the arguments of a command: one line for a person, no stack, exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
