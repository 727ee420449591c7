import type { StoredName } from "../../references/references.ts";
import type { ConfigObject } from "../digest.ts";

/**
 * A computation that repeats the hash of another controller. It yields the name of each object, receives the stored object or
 * undefined, and returns the hash. It keeps no value after it yields the next object of another name.
 */
export type LegacyDigest = Generator<StoredName, string, ConfigObject | undefined>;
