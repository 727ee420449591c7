import type { KubeList, KubeObject } from "./api-types.ts";
import { resources } from "./resources.ts";
import type { ReflectorEvent, WatchContext } from "./watch-context.ts";
import { goneOf } from "./watch-from.ts";

/** Objects of up to 1 MiB come in small pages, so that one page stays small too. */
function pageLimit({ resource }: WatchContext): number {
  return resource === resources.configMaps || resource === resources.secrets ? 100 : 500;
}

/**
 * All objects that exist now, in pages of one moment, for servers that do not send them as the beginning of a watch.
 * Begins again, once, where the server gives up the moment in between (410). Returns the resourceVersion to watch from.
 */
export async function* pagedList<T extends KubeObject>(
  context: WatchContext,
): AsyncGenerator<ReflectorEvent<T>, string> {
  const { client, path, fieldSelector, signal, log, what } = context;
  yield { type: "init" };
  let next: string | undefined;
  let begunAgain = false;
  for (;;) {
    const query = { limit: pageLimit(context), continue: next, fieldSelector };
    let page: KubeList<T>;
    try {
      page = await client.request<KubeList<T>>({ method: "GET", path, query, signal });
    } catch (error) {
      if (next === undefined || begunAgain || !goneOf(error)) throw error;
      begunAgain = true;
      next = undefined;
      yield { type: "init" };
      continue;
    }
    for (const object of page.items ?? []) {
      if (object?.metadata) yield { type: "initApply", object };
      else log.warn(`an item in the list of ${what} is no object and is skipped`);
    }
    next = page.metadata.continue;
    if (next) continue;
    yield { type: "initDone" };
    return page.metadata.resourceVersion;
  }
}
