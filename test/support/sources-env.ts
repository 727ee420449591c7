/**
 * Returns the environment of a process that runs the sources: where programs are, and where Node keeps the code that it has compiled. With
 * this code, a process starts in a quarter of the processor time. For tests only.
 */
export function sourcesEnv(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}
