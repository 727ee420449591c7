import { counted } from "../../rollout/wording.ts";
import type { Examined } from "./finding.ts";
import type { Patient } from "./patient.ts";

/** Whether what people wrote for Wave reaches it, and can be read. */
export async function annotations(patient: Patient): Promise<Examined> {
  const { mistakes, count } = await patient.written();
  return { found: mistakes, fine: `${counted(count)} ${count === 1 ? "object" : "objects"} looked at` };
}

/** Whether anything is left of earlier controllers that is in the way. */
export async function leftovers(patient: Patient): Promise<Examined> {
  return { found: (await patient.written()).leftovers, fine: "none" };
}
