import type { KubeObject } from "../kube/api-types.ts";
import type { ReflectorEvent } from "../kube/watch-context.ts";
import type { RightOfWay } from "../lib/right-of-way.ts";

/** Objects of a list that are passed on between two pauses: about a millisecond's work for Secrets of 4 KiB. */
const piece = 16;

/** In one list: a minute in all. */
const mostPauses = 1200;

/**
 * The same events. While there is something that goes first, the objects of a list come slowly, so that this process
 * and the API server have time for it; changes after the list are passed on at once, and so is a list that had to begin
 * again: an API server ends a watch that falls too far behind what changes meanwhile.
 */
export async function* stepAside<T extends KubeObject>(
  events: AsyncIterable<ReflectorEvent<T>>,
  rightOfWay: RightOfWay,
): AsyncGenerator<ReflectorEvent<T>> {
  let objects = 0;
  let pausesLeft = 0;
  let listing = false;
  for await (const event of events) {
    yield event;
    switch (event.type) {
      case "init":
        pausesLeft = listing ? 0 : mostPauses;
        listing = true;
        break;
      case "initDone":
        listing = false;
        break;
      case "initApply": {
        const pause = ++objects % piece === 0 && pausesLeft > 0 ? rightOfWay.pause() : undefined;
        if (pause === undefined) break;
        pausesLeft--;
        await pause;
      }
    }
  }
}
