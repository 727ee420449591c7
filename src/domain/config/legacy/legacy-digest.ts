import type { StoredName } from "../../references/references.ts";
import type { ConfigObject } from "../digest.ts";

/**
 * How another controller's hash is made again: asks for one object after the other, gets each as it is stored or undefined
 * where it does not exist, and returns the hash. It keeps no value longer than until it asks for the next object of
 * another name.
 */
export type LegacyDigest = Generator<StoredName, string, ConfigObject | undefined>;
