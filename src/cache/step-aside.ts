import type { KubeObject } from "../kube/api-types.ts";
import type { ReflectorEvent } from "../kube/watch-context.ts";
import type { RightOfWay } from "../lib/right-of-way.ts";

/** Objects of a list that are passed on between two pauses: about a millisecond's work for Secrets of 4 KiB. */
const piece = 16;

/** In one list, 15 s in all: an API server ends a watch that falls too far behind what changes meanwhile. */
const mostPauses = 1500;

/**
 * The same events. While there is something that goes first, the objects of a list come slowly, so that this process
 * and the API server have time for it; changes after the list are passed on at once.
 */
export async function* stepAside<T extends KubeObject>(
  events: AsyncIterable<ReflectorEvent<T>>,
  rightOfWay: RightOfWay,
): AsyncGenerator<ReflectorEvent<T>> {
  let objects = 0;
  let pauses = 0;
  for await (const event of events) {
    yield event;
    if (event.type === "init") pauses = 0;
    if (event.type !== "initApply" || ++objects % piece !== 0 || pauses === mostPauses) continue;
    const pause = rightOfWay.pause();
    if (pause === undefined) continue;
    pauses++;
    await pause;
  }
}
