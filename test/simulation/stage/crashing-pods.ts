import { placesOf } from "../model-reading.ts";
import type { StoredObject } from "../record.ts";

/** A value with which every container crashes. */
export const badValue = "bad";

/** An image with which every container crashes. */
export const brokenImage = "broken:1";

/** Reports whether the containers of a Pod crash at their start, because of their image or with the stored configuration. */
export function crashesWith(...args: Parameters<typeof readsBadValue>): boolean {
  const { containers = [] } = args[0].spec as { readonly containers?: readonly { readonly image?: string }[] };
  return containers.some(({ image }) => image === brokenImage) || readsBadValue(...args);
}

/** Reports whether the containers of a Pod crash at their start with the stored configuration: they read a {@link badValue}. */
function readsBadValue(
  pod: StoredObject,
  find: (kind: "ConfigMap" | "Secret", namespace: string, name: string) => StoredObject | undefined,
): boolean {
  const { namespace = "" } = pod.metadata;
  const metadata = { ...pod.metadata, annotations: {} };
  const places = placesOf({ ...pod, metadata, spec: { template: { spec: pod.spec } } });
  return places.some(({ kind, name, shown }) => {
    const object = find(kind, namespace, name);
    const bad = kind === "Secret" ? Buffer.from(badValue).toString("base64") : badValue;
    const data = (object?.data ?? {}) as Readonly<Record<string, string>>;
    return Object.entries(data).some(([key, value]) => value === bad && (shown === "*" || shown.includes(key)));
  });
}
