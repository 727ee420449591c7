/**
 * How long `work` kept this thread's processor busy, in milliseconds: on a busy machine as long as on an idle one, which the time on a
 * clock is not. The kernel counts in steps of some milliseconds, so `work` has to take many of them, or to be measured many times.
 * Only tests import it.
 */
export async function processorMs(work: () => unknown): Promise<number> {
  const begun = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1_000;
}
