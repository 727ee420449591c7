import { globSync, readFileSync } from "node:fs";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";

interface Named {
  readonly name?: string;
  readonly value?: unknown;
}

/** A statement, with the fields of ESTree that the names of its exports need. */
interface Statement {
  readonly type: string;
  readonly start: number;
  /** The module of a re-export. */
  readonly source?: object | null;
  readonly declaration?: {
    readonly type: string;
    readonly id?: Named | null;
    readonly declarations?: readonly { readonly id: Named }[];
  } | null;
  readonly specifiers?: readonly { readonly exported: Named }[];
}

/** Returns `file:line: name` of each export without a doc comment on the line before. The comment of a first overload is for all. */
function undocumented(file: string, source: string): string[] {
  const seen = new Set<string>();
  return statements(file, source).flatMap((statement) => {
    const names = exportedNames(statement).filter((name) => !seen.has(name));
    for (const name of names) seen.add(name);
    const before = source.slice(0, statement.start);
    if (docComment(before) !== undefined) return [];
    return names.map((name) => `${file}:${before.split("\n").length}: ${name}`);
  });
}

/** Returns `file:line: name` of each exported function whose doc comment does not begin with a verb in the third person. */
function withoutVerb(file: string, source: string): string[] {
  return statements(file, source).flatMap((statement) => {
    if (!statement.declaration?.type.includes("Function")) return [];
    const before = source.slice(0, statement.start);
    if (/^[A-Z][a-z-]*s[ ,.:]/.test(docComment(before) ?? "Returns ")) return [];
    return exportedNames(statement).map((name) => `${file}:${before.split("\n").length}: ${name}`);
  });
}

/** Parses a module into its statements. */
function statements(file: string, source: string): readonly Statement[] {
  return (parseAst(source, { lang: "ts" }, file) as unknown as { readonly body: readonly Statement[] }).body;
}

/** Returns the names that a statement exports; none for a re-export, whose comment is in the other module. */
function exportedNames({ type, source, declaration, specifiers = [] }: Statement): readonly string[] {
  if (type === "ExportDefaultDeclaration") return ["default"];
  if (type !== "ExportNamedDeclaration" || source) return [];
  const declared = declaration?.declarations?.map(({ id }) => id) ?? [declaration?.id ?? {}];
  const ids = declaration ? declared : specifiers.map(({ exported }) => exported);
  return ids.map(({ name, value }) => name ?? String(value ?? "(pattern)"));
}

/** Returns the words of the doc comment at the end of a text. It starts a line, contains a letter, and may contain `/*`. */
function docComment(text: string): string | undefined {
  const last = text.slice(`\n${text}`.lastIndexOf("\n/*"));
  return /^\/\*\*[\s*]*(?=.*\p{L})((?:(?!\*\/).)*)\*\/\n$/su.exec(last)?.[1];
}

const sources = globSync("{src,sandbox}/**/*.ts").filter((file) => !file.endsWith(".test.ts"));

describe("an export", () => {
  it("has a doc comment", () => {
    expect(sources.length).toBeGreaterThan(400);
    expect(sources.flatMap((file) => undocumented(file, readFileSync(file, "utf8")))).toEqual([]);
  });

  it.each([
    ["const", "export const a = 1;", "a"],
    ["function", "export async function a(): Promise<void> {}", "a"],
    ["abstract class", "export abstract class A {}", "A"],
    ["interface", "export interface A {}", "A"],
    ["type", "export type A = 1;", "A"],
    ["list", "export { a as b };", "b"],
    ["default", "export default 1;", "default"],
  ])("is refused without a doc comment, with file, line and name: %s", (_, text, name) => {
    expect(undocumented("a.ts", `const a = "…";\n${text}\n`)).toEqual([`a.ts:2: ${name}`]);
    expect(undocumented("a.ts", `// Returns 1.\n${text}\n`)).toHaveLength(1);
    expect(undocumented("a.ts", `/* Returns 1. */\n${text}\n`)).toHaveLength(1);
    expect(undocumented("a.ts", `/** */\n${text}\n`)).toHaveLength(1);
    expect(undocumented("a.ts", `/** Returns 1. */\nconst c = 1; /* 1 */\n${text}\n`)).toHaveLength(1);
    expect(undocumented("a.ts", `/** This file has constants. */\n\n${text}\n`)).toHaveLength(1);
    expect(undocumented("a.ts", `const a = "…";\n/** Returns 1. */\n${text}\n`)).toEqual([]);
    expect(undocumented("a.ts", `/**\n * Returns 1 (https://example.com/*).\n */\n${text}\n`)).toEqual([]);
  });

  it("needs no second doc comment as an overload or a re-export", () => {
    const overloads =
      "export function a(b: 1): 1;\nexport function a(b: 2): 2;\nexport function a(b: number) {\n  return b;\n}\n";
    expect(undocumented("a.ts", overloads)).toEqual(["a.ts:1: a"]);
    expect(undocumented("a.ts", `/** Returns b. */\n${overloads}`)).toEqual([]);
    expect(undocumented("a.ts", 'export type { A } from "./a.ts";\nexport * from "./b.ts";\n')).toEqual([]);
  });

  it("begins its doc comment with a verb if it is a function", () => {
    expect(sources.flatMap((file) => withoutVerb(file, readFileSync(file, "utf8")))).toEqual([]);
  });

  it.each(["Whether a is 1.", "The object.", "`a` of b.", "Kubernetes' word.", "\n * What a is.\n"])(
    "is refused as a function with the doc comment: %s",
    (comment) => {
      const declared = "export async function a(): Promise<void> {}\n";
      expect(withoutVerb("a.ts", `/** ${comment} */\n${declared}`)).toEqual([expect.stringMatching(/^a\.ts:\d: a$/)]);
      expect(withoutVerb("a.ts", `/** ${comment} */\nexport const a = 1;\n`)).toEqual([]);
      expect(withoutVerb("a.ts", `/**\n * Returns 1.\n */\n${declared}`)).toEqual([]);
    },
  );
});
