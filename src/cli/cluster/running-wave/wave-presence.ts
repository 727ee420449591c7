import { type RunningWave, type RunningWaves, wavesWatching } from "./running-wave.ts";

/** Whether a Wave can act now. "unknown": its Deployment may not be read. */
export type WavePresence = "ready" | "notReady" | "none" | "unknown";

/** Returns whether one of these Waves watches a namespace and can act now; `undefined` means any namespace. */
export function wavePresence(waves: RunningWaves, namespace: string | undefined): WavePresence {
  if ("unread" in waves) return "unknown";
  const watching = wavesWatching(waves, namespace);
  if (watching.length === 0) return "none";
  return watching.some(isReady) ? "ready" : "notReady";
}

function isReady({ object: { status } }: RunningWave): boolean {
  return (status?.readyReplicas ?? 0) > 0;
}

/** What follows for a rollout that is due, for people. A Wave outside the cluster has no Deployment. */
export const wavePresenceTexts = {
  notReady: "No replica of Wave is ready. The rollout starts when Wave runs again: see wave doctor.",
  none: "No Deployment in this cluster runs Wave for the namespace. The rollout starts when Wave runs.",
} as const;

/** Returns a text about rollouts that start now, or about what is due and why it does not start. */
export function startsNow(presence: WavePresence | undefined, now: string, due: string): string {
  if (presence === "none" || presence === "notReady") return `${due} ${wavePresenceTexts[presence]}`;
  return now;
}
