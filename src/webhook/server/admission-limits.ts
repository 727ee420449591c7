/**
 * What one review, and all at one time, may cost. Far above what people have: a Deployment of 1,000 environment variables
 * takes 0.5 MiB and 12,000 values in an UPDATE, which brings it twice.
 */

/** The API server stores 1.5 MiB at most, and an UPDATE brings that twice. */
export const maxBodyBytes = 4 * 1024 * 1024;

/** Values in its JSON without managed fields, as `countValues` counts them; so many empty objects take 10 MiB. */
export const maxValues = 125_000;

/** Bytes of reviews that are parsed before what they left is collected; a collection takes some 15 ms. */
export const collectAfterBytes = 2 * 1024 * 1024;

/**
 * How many reviews are under way at one time, by their size: the first row whose bytes and values they do not exceed. Most
 * are in the first; a row of large ones holds about 10 MiB of parsed JSON when it is full, whatever they are made of.
 */
export const lanes = [
  { bytes: 32 * 1024, values: 2000, atOnce: 128 },
  { bytes: 512 * 1024, values: 25_000, atOnce: 4 },
  { bytes: maxBodyBytes, values: maxValues, atOnce: 1 },
] as const;

/** Reviews of one namespace under way at one time: not all that there can be. */
export const reviewsOfNamespace = 64;

/** Objects that are read for one review. */
export const maxObjects = 64;

/** Reads under way at one time, of all reviews. Wave's own requests find room beside them on the same connection. */
export const readsAtOnce = 32;

/** Milliseconds for all reads of a review; the API server waits for five seconds. */
export const readingMs = 3000;

/** Connections, see `Connections`. 74 KiB each. */
export const connectionLimits = { all: 320, strangers: 160, strangerMs: 10_000 };
