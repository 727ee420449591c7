/** A request as a fault's `match` sees it. */
export interface FaultyRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** What goes wrong. */
export type FaultAction =
  /** The server answers with this HTTP status and a Kubernetes Status, and with Retry-After where given. */
  | { readonly type: "status"; readonly status: number; readonly retryAfterSeconds?: number }
  /** The connection breaks with no answer. */
  | { readonly type: "drop" }
  /** The server waits so long, then answers as usual. */
  | { readonly type: "delay"; readonly ms: number }
  /** The server takes the request and never answers. */
  | { readonly type: "blackHole" };

/** A rule for requests that go wrong. */
export interface Fault {
  readonly match: (request: FaultyRequest) => boolean;
  readonly action: FaultAction;
  /** After so many requests the rule is over; without it the rule stays. */
  readonly times?: number;
}

/** Rules for requests that go wrong; the first that matches counts. */
export interface Faults {
  /** Adds a rule; the returned function takes it away. */
  add(fault: Fault): () => void;
  /** Takes all rules away. */
  clear(): void;
}

/** The rules together with the question that the server asks them. */
export interface FaultRules extends Faults {
  /** What happens to this request; counts it against the rule that says so. */
  take(request: FaultyRequest): FaultAction | undefined;
}

/** Creates an empty set of rules. */
export function createFaults(): FaultRules {
  const rules = new Set<{ readonly fault: Fault; left: number }>();
  return {
    add(fault) {
      const rule = { fault, left: fault.times ?? Number.POSITIVE_INFINITY };
      rules.add(rule);
      return () => rules.delete(rule);
    },
    clear: () => rules.clear(),
    take(request) {
      for (const rule of rules) {
        if (!rule.fault.match(request)) continue;
        rule.left -= 1;
        if (rule.left <= 0) rules.delete(rule);
        return rule.fault.action;
      }
      return undefined;
    },
  };
}
