/**
 * Overwrites the unused part of the stack, about 128 KiB. Node.js decrypts TLS into a buffer on the stack, and leaves there what it has
 * read last.
 */
export function overwriteStack(): void {
  recurse(1500);
}

/** Each call has a frame of at least 90 bytes, and V8 does not keep frames for calls in tail position. */
function recurse(depth: number): number {
  return depth === 0 ? 0 : 1 + recurse(depth - 1);
}
