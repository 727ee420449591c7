// Up to when the leader has judged every change: an annotation of its Lease, so that a state without annotation shows that a workload is current.
import { hash } from "node:crypto";
import { fieldsOf, textOf } from "../syntax/json.ts";
import { parseTime } from "../syntax/time.ts";

/** The annotation of the Lease. The leader writes it when it renews the Lease, so it costs no write. */
export const judgedAnnotation = "wave.pusher.com/judged";

/** Up to when every earlier change is judged and published, in milliseconds since the epoch; undefined: unknown, or Wave does not watch it. */
export interface Judged {
  readonly upTo: number | undefined;
  /** Namespaces for which another time applies. */
  readonly except: ReadonlyMap<string, number | undefined>;
}

/** Returns the text of the annotation. Who may read the Lease may not know all namespaces, so it has digests of their names. */
export function writeJudged({ upTo, except }: Judged): string {
  const text = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());
  return JSON.stringify({
    upTo: text(upTo),
    except: Object.fromEntries([...except].map(([namespace, at]) => [digestOf(namespace), text(at)])),
  });
}

/** Returns up to when a namespace is judged, from the annotation; undefined if that is unknown. */
export function judgedUpTo(annotation: string | undefined, namespace: string): number | undefined {
  try {
    const { upTo, except } = fieldsOf(JSON.parse(annotation ?? "{}"));
    const own = fieldsOf(except)[digestOf(namespace)];
    return parseTime(textOf(own === undefined ? upTo : own));
  } catch {
    return undefined;
  }
}

function digestOf(namespace: string): string {
  return hash("sha256", namespace, "hex").slice(0, 10);
}
