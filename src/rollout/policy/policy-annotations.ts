/**
 * The annotations by which a workload, or its Namespace for all in it, decides when it is rolled, as they are written and by their
 * names without prefix. Only those that are there; {@link noPolicy} for the many that have none.
 */
export type PolicyAnnotations = Readonly<Partial<Record<PolicyAnnotation, string>>>;

/** Those, without `wave.pusher.com/`. */
export type PolicyAnnotation =
  | "hold"
  | "mode"
  | "approved"
  | "window"
  | "settle"
  | "min-interval"
  | "waves"
  | "priority"
  | "resumed"
  | "exclude-configmaps"
  | "exclude-secrets";

/** Nothing decided. */
export const noPolicy: PolicyAnnotations = {};
