import { counted } from "../../domain/syntax/wording.ts";
import { configArgumentKinds } from "../command/workload-argument.ts";
import type { DoctorContext } from "./doctor-context.ts";
import { type CheckResult, notRead } from "./finding.ts";
import type { UnreadResource } from "./annotation-scan.ts";

/** Whether what people wrote for Wave reaches it, and can be read. */
export async function checkAnnotations(doctorContext: DoctorContext): Promise<CheckResult> {
  const { mistakes, unread, count } = await doctorContext.written();
  const unknown = unread.map((each) => notRead(null, `what is written on ${each.plural}`, each));
  return {
    found: [...mistakes, ...unknown],
    fine: `${counted(count)} ${count === 1 ? "object" : "objects"} looked at`,
  };
}

/** Whether anything is left of earlier controllers that is in the way. */
export async function checkLeftovers(doctorContext: DoctorContext): Promise<CheckResult> {
  const { leftovers: left, unread } = await doctorContext.written();
  const unknown = unread.filter(mayHaveLeftovers).map((each) => notRead(null, `what is left on ${each.plural}`, each));
  return { found: [...left, ...unknown], fine: "none" };
}

/** On workloads, of which some may be theirs by their Namespace alone. */
function mayHaveLeftovers({ plural }: UnreadResource): boolean {
  return configArgumentKinds.every(({ resource }) => resource.plural !== plural);
}
