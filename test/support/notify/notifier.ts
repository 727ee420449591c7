import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ObjectEvent } from "../../../src/kube/events/event-object.ts";
import { readNotifyFile } from "../../../src/notify/file/notify-file.ts";
import { createNotifier } from "../../../src/notify/notifier.ts";
import type { LogFields, Logger } from "../../../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../../../src/telemetry/metrics/metrics.ts";
import { FakeClock } from "../fake-clock.ts";
import { temporaryFiles } from "../kube/files.ts";

/** Returns an Event of a rollout as the controller reports it. */
export function rolled(name: string, more: Partial<ObjectEvent> = {}, namespace = "shop"): ObjectEvent {
  return {
    regarding: { apiVersion: "apps/v1", kind: "Deployment", namespace, name, uid: name },
    type: "Normal",
    reason: "ConfigChanged",
    message: 'Rollout started: ConfigMap "web-page" changed (key "index.html").',
    ...more,
  };
}

/** Starts a notifier with a manual clock. For tests only. */
export async function startNotifier(...receivers: readonly object[]) {
  const clock = new FakeClock();
  const metrics = new MetricsRegistry();
  const logged: { readonly message: string; readonly fields: LogFields | undefined }[] = [];
  const keep: Logger["warn"] = (message, fields) => void logged.push({ message, fields });
  const log: Logger = { debug: () => {}, info: keep, warn: keep, error: keep };
  const folder = await temporaryFiles({ "notify.json": JSON.stringify({ receivers }) });
  const settings = await readNotifyFile(join(folder, "notify.json"), {});
  const notifier = createNotifier({ receivers: settings, clock, log, metrics, version: "1.2.3", random: () => 1 });
  const ending = new AbortController();
  const ended = notifier.run(ending.signal);
  const stop = () => {
    ending.abort();
    return ended;
  };
  onTestFinished(async () => {
    ending.abort();
    await clock.advance(1_000);
    await ended;
  });
  const counts = (receiver = "all") => {
    const lines = metrics.render().matchAll(/^wave_notifications_total\{receiver="(.+)",result="(\w+)"\} (\d+)$/gm);
    const own = lines.filter(([, name]) => name === receiver);
    return Object.fromEntries(Array.from(own, ([, , result, count]) => [result, Number(count)]));
  };
  const tell = (...events: readonly ObjectEvent[]) => {
    for (const event of events) notifier.recorded(event, "first");
  };
  return { clock, logged, notifier, tell, stop, ended, counts };
}
