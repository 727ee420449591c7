import type { Scalar } from "yaml";

/**
 * Joins texts to sentences on one line: each starts with a capital letter and ends with a full stop. Empty texts are left out. A name such
 * as `deployment/web` keeps its small letter.
 */
export function sentences(...texts: readonly string[]): string {
  return texts
    .filter((text) => text !== "")
    .map(asSentence)
    .join(" ");
}

function asSentence(text: string): string {
  const start = /^[a-z]+[ ,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?…]$/.test(start) ? start : `${start}.`;
}

/** The output formats for programs, as `--output` names them. */
export const programForms = ["json", "yaml"] as const;

/** An output format for programs. */
export type ProgramForm = (typeof programForms)[number];

/** Reports whether a value of `--output` is a format for programs; false for undefined. */
export function isForProgram(output: string | undefined): output is ProgramForm {
  return programForms.some((form) => form === output);
}

/** Returns a value as JSON or YAML with a final line feed. Fields with the value `undefined` are left out. */
export async function programText(value: unknown, form: ProgramForm): Promise<string> {
  return form === "json" ? `${printableJson(value)}\n` : printableYaml(value);
}

/** Characters that control a terminal or hide text, and that YAML allows without escapes. */
const unprintable = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/u;

/** Returns YAML with the same escapes as JSON. Escapes need double quotes, which the library uses only for some characters. */
async function printableYaml(value: unknown): Promise<string> {
  const { Document, visit } = await import("yaml");
  const document = new Document(JSON.parse(JSON.stringify(value)));
  visit(document, {
    Scalar: (_, scalar: Scalar) => {
      if (typeof scalar.value === "string" && unprintable.test(scalar.value)) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return (
    document
      // Each string stays on its line: a text of others could otherwise look like a field.
      .toString({ lineWidth: 0, blockQuote: false, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER })
      .replace(new RegExp(unprintable, "gu"), (character) => `\\U${hex(character).padStart(8, "0")}`)
  );
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}

/** Returns JSON for a program. People also read JSON in terminals, so control and format characters are escaped. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
