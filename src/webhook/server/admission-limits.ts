/**
 * Limits of one review and of all concurrent reviews. They are far above real workloads: a Deployment with 1,000 environment
 * variables takes 0.5 MiB and 12,000 values in an UPDATE, which contains it twice.
 */

/** Maximum body. The API server stores at most 1.5 MiB, and an UPDATE contains the object twice. */
export const maxBodyBytes = 4 * 1024 * 1024;

/** Maximum number of JSON values without managed fields, by `countValues`. This number of empty objects takes 10 MiB. */
export const maxJsonValues = 125_000;

/** Bytes of parsed reviews after which garbage is collected. A collection takes about 15 ms. */
export const collectAfterBytes = 2 * 1024 * 1024;

/**
 * Concurrent reviews by size. A review belongs to the first row whose bytes and values it does not exceed. Most are in the
 * first row. A full row of large reviews holds about 10 MiB of parsed JSON, whatever their content is.
 */
export const lanes = [
  { bytes: 32 * 1024, values: 2000, concurrent: 128 },
  { bytes: 512 * 1024, values: 25_000, concurrent: 4 },
  { bytes: maxBodyBytes, values: maxJsonValues, concurrent: 1 },
] as const;

/** Maximum number of concurrent reviews of one namespace, so that one namespace cannot use all of them. */
export const maxReviewsPerNamespace = 64;

/** Maximum number of objects that Wave reads for one review. */
export const maxObjectsPerReview = 64;

/** Maximum number of concurrent reads of all reviews. Wave's other requests still fit on the same connection. */
export const maxConcurrentReads = 32;

/** Timeout of all reads of one review, in milliseconds. The API server waits five seconds. */
export const readsTimeoutMs = 3000;

/**
 * Time of a review with its reads, its copies and a second try, in milliseconds: less than the API server waits. It would ignore a later
 * response, and create Pods that read live configuration.
 */
export const reviewTimeoutMs = 4000;

/** Limits of {@link WebhookConnections}. A connection takes 74 KiB. */
export const connectionLimits = { total: 320, unauthenticated: 160, unauthenticatedMs: 10_000 };
