/**
 * Reads each object once for all who ask for it while it is being read: at most one read of it is under way and one
 * waits. Nobody gets an answer to a read that began before they asked, so that whoever has just written an object sees
 * it. A read that fails fails for all who share it, and for nobody else.
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
