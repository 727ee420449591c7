/**
 * The same function, which remembers its last `most` answers: for what is asked again and again, by texts that anybody may
 * write. What was asked for longest ago is forgotten first.
 */
export function remembering<T>(most: number, answer: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.has(text) ? (known.get(text) as T) : answer(text);
    known.delete(text);
    known.set(text, found);
    const [oldest] = known.keys();
    if (known.size > most && oldest !== undefined) known.delete(oldest);
    return found;
  };
}
