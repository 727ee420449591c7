// Shares and limits concurrent reads. Keeps nothing between two reads.
/** This folder reads configuration as it is stored now, for callers that must not trust the caches. It has no policy. */

/**
 * Returns a function that shares concurrent reads of a key: at most one read of it runs and one waits. A caller never gets
 * the result of a read that began before its call, so a caller that has just written an object sees its own write. If a
 * read fails, it fails for all callers that share it, and for no others.
 */
export function sharedReads<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const running = new Map<string, { readonly current: Promise<T>; next: Promise<T> | undefined }>();

  function begin(key: string): Promise<T> {
    const reading = { current: read(key), next: undefined };
    running.set(key, reading);
    const end = () => {
      if (running.get(key) === reading) running.delete(key);
    };
    // Registered first, so that it runs before what waits for this read.
    reading.current.then(end, end);
    return reading.current;
  }

  return (key) => {
    const reading = running.get(key);
    if (reading === undefined) return begin(key);
    const after = () => begin(key);
    reading.next ??= reading.current.then(after, after);
    return reading.next;
  };
}

/** Reads keys, `concurrency` at a time. Starts no read after one has failed. */
export async function readEach<T>(
  keys: readonly string[],
  read: (key: string) => Promise<T>,
  concurrency: number,
): Promise<Map<string, T>> {
  const found = new Map<string, T>();
  const left = [...keys];
  const work = async () => {
    try {
      for (let key = left.pop(); key !== undefined; key = left.pop()) found.set(key, await read(key));
    } catch (error) {
      left.length = 0; // the result is no longer needed
      throw error;
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, keys.length) }, work));
  return found;
}
