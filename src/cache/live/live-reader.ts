// Reads of the stored state, for the times when a cache may be behind. Keeps nothing between two reads.
/** This folder reads configuration as it is stored now, for callers that must not trust the caches. It has no policy. */
import type { CompatibilitySettings } from "../../domain/compatibility/directive.ts";
import type { Config } from "../../domain/config/digest.ts";
import { configKey, parseStoredKey, type StoredName } from "../../domain/references/references.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { type ReadBounds, readStoredConfig } from "./live-configs.ts";
import { sharedReads } from "./shared-reads.ts";

/** Reads ConfigMaps and Secrets as they are stored now. Throws what {@link readStoredConfig} throws. */
export interface LiveReader {
  /**
   * Reads one object; undefined if it does not exist. Concurrent reads of an object for the same `flow` are shared.
   * `flow` is the namespace on whose behalf the object is read, if that matters for {@link LiveReaderOptions.schedule}.
   */
  readonly read: (object: StoredName, flow?: string) => Promise<Config | undefined>;
  /** Reads objects, `concurrency` at a time, and returns them by key. Starts no read after one has failed. */
  readonly readAll: (objects: readonly StoredName[]) => Promise<Map<string, Config | undefined>>;
}

/** Bounds of a {@link LiveReader}. */
export interface LiveReaderOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly compatibility: CompatibilitySettings | undefined;
  /** Timeout and signal of each read. */
  readonly bounds: ReadBounds;
  /** Maximum number of concurrent reads in one call of `readAll`. */
  readonly concurrency: number;
  /** Runs a read when its flow may have one. Default: at once. */
  readonly schedule?: (flow: string, read: () => Promise<Config | undefined>) => Promise<Config | undefined>;
}

/** Creates a reader. */
export function createLiveReader(options: LiveReaderOptions): LiveReader {
  const { client, compatibility, bounds, concurrency, schedule = (_flow, run) => run() } = options;
  const shared = sharedReads((flowAndKey) => {
    const [flow = "", key = ""] = flowAndKey.split(" ");
    return schedule(flow, () => readStoredConfig(client, parseStoredKey(key), bounds, compatibility));
  });
  const read = (object: StoredName, flow = "") => shared(`${flow} ${configKey(object)}`);

  const readAll = async (objects: readonly StoredName[]) => {
    const found = new Map<string, Config | undefined>();
    const left = [...objects];
    const work = async () => {
      try {
        for (let object = left.pop(); object !== undefined; object = left.pop()) {
          found.set(configKey(object), await read(object));
        }
      } catch (error) {
        left.length = 0; // the result is no longer needed
        throw error;
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, objects.length) }, work));
    return found;
  };
  return { read, readAll };
}
