/**
 * Returns a function to call before a number of bytes is read or parsed. Every `afterBytes` bytes, it first runs `collect`, by default the
 * garbage collection of V8, if exposed. V8 itself collects after many times as much, and even later on a busy machine, because it does
 * most of the work in other threads: contributing/adr/0007-memory.md.
 */
export function collectGarbageAfter(afterBytes: number, collect: () => void = globalThis.gc ?? (() => {})) {
  /** Bytes since the last collection. */
  let read = 0;
  return (bytes: number): void => {
    if (read + bytes > afterBytes) {
      collect();
      read = 0;
    }
    read += bytes;
  };
}
