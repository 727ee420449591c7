import { printableJson } from "./printable.ts";

/** The forms of an output for a program. */
export const programForms = ["json", "yaml"] as const;

/** One of them. */
export type ProgramForm = (typeof programForms)[number];

/** Whether an output is for a program. */
export function isForProgram(output: string | undefined): output is ProgramForm {
  return programForms.some((form) => form === output);
}

/** A value for a program, with a line feed at its end: what `undefined` stands in is left out in both. */
export async function programText(value: unknown, form: ProgramForm): Promise<string> {
  if (form === "json") return `${printableJson(value)}\n`;
  const { stringify } = await import("yaml");
  // What JSON escapes stays escaped: in YAML a text with such characters is written in JSON's way.
  return stringify(JSON.parse(JSON.stringify(value)), { lineWidth: 0 });
}
