import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";

/** A sentence that Wave prints, and the line of the source that has it. */
export interface PrintedText {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

/** Fewer words than these are a name, a label or a part of a sentence, which rules for sentences cannot judge. */
const fewestWords = 4;

/**
 * Returns every text of at least four words in the string and template literals of the sources that run: Events, errors, help, output,
 * log messages, metric help, chart values. A placeholder of a template is `x`; literals that `+` joins are one text.
 */
export function printedTexts(root: string): readonly PrintedText[] {
  return globSync("{src,deploy/values}/**/*.ts", { cwd: root })
    .filter((path) => !path.endsWith(".test.ts"))
    .sort()
    .flatMap((path) => textsOf(path, readFileSync(join(root, path), "utf8")));
}

function textsOf(path: string, source: string): PrintedText[] {
  const found: PrintedText[] = [];
  const visit = (node: Node): void => {
    if (node.type === "ImportDeclaration" || node.type === "TSLiteralType") return;
    const text = literalOf(node);
    if (text !== undefined) {
      const words = text.match(/[A-Za-z][\w'-]*/g) ?? [];
      const line = source.slice(0, node.start).split("\n").length;
      if (words.length >= fewestWords && /[a-z] [a-z]/.test(text)) found.push({ path, line, text });
      return;
    }
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child);
    }
  };
  visit(parseAst(source, { lang: "ts" }, path) as unknown as Node);
  return found;
}

/** The text of a literal, of a template, or of several that `+` joins; undefined for any other node. */
function literalOf(node: Node): string | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type === "TemplateLiteral") {
    const quasis = node.quasis as readonly { readonly value: { readonly cooked: string } }[];
    return quasis.map(({ value }) => value.cooked).join("x");
  }
  if (node.type !== "BinaryExpression" || node.operator !== "+") return undefined;
  const [left, right] = [literalOf(node.left as Node), literalOf(node.right as Node)];
  return left === undefined || right === undefined ? undefined : left + right;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}
