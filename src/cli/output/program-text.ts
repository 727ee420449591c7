import type { Scalar } from "yaml";
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
  return form === "json" ? `${printableJson(value)}\n` : printableYaml(value);
}

/** What steers a terminal or hides what follows, and YAML allows as it is. */
const unprintable = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/u;

/** YAML in which the same is escaped as in JSON: that takes double quotes, which the library uses for some of it alone. */
async function printableYaml(value: unknown): Promise<string> {
  const { Document, visit } = await import("yaml");
  const document = new Document(JSON.parse(JSON.stringify(value)));
  visit(document, {
    Scalar: (_, scalar: Scalar) => {
      if (typeof scalar.value === "string" && unprintable.test(scalar.value)) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return document
    .toString({ lineWidth: 0 })
    .replace(new RegExp(unprintable, "gu"), (character) => `\\U${hex(character).padStart(8, "0")}`);
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}
