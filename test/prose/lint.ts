import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";
import { printedTexts } from "./strings.ts";

interface Finding {
  readonly Check: string;
  readonly Line: number;
  readonly Message: string;
}

const root = join(import.meta.dirname, "../..");
const vale = join(controlPlaneFolder(), "vale");
if (!existsSync(vale)) {
  console.error(`prose: ${vale} is missing; run test/prose/install once`);
  process.exit(2);
}

/** The texts that Wave prints, one paragraph each: line 2n + 1 of the file is text n. */
const texts = printedTexts(root);
const folder = mkdtempSync(join(tmpdir(), "wave-prose-"));
const file = join(folder, "texts.md");
writeFileSync(file, texts.map(({ text }) => asParagraph(text)).join("\n\n"));

const pages = [...globSync("{docs,contributing}/**/*.md", { cwd: root }), "README.md", "CONTRIBUTING.md", "SECURITY.md"]
  .filter((page) => process.argv.length < 3 || process.argv.includes(page))
  .sort();
const args = ["--config", join(import.meta.dirname, "vale.ini"), "--output=JSON", "--no-exit"];
const checked = spawnSync(vale, [...args, ...pages.map((page) => join(root, page)), file], {
  cwd: import.meta.dirname,
  encoding: "utf8",
  maxBuffer: 2 ** 28,
});
rmSync(folder, { recursive: true });
if (checked.status !== 0) {
  console.error(checked.stderr || checked.stdout);
  process.exit(2);
}

const findings = Object.entries(JSON.parse(checked.stdout) as Record<string, readonly Finding[]>).flatMap(
  ([path, found]) => found.map(({ Check, Line, Message }) => `${placeOf(path, Line)}: ${Check}: ${Message}`),
);
for (const finding of findings.sort()) console.log(finding);
console.log(`${pages.length} pages and ${texts.length} texts: ${findings.length} findings`);
process.exit(findings.length === 0 ? 0 : 1);

/** One line of Markdown in which nothing but code in backticks is markup. */
function asParagraph(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/^[-+*#>\d]/g, (sign) => `\\${sign}`)
    .replaceAll(/[<>]/g, " ");
}

function placeOf(path: string, line: number): string {
  if (path !== file) return `${path.slice(root.length + 1)}:${line}`;
  const text = texts[(line - 1) / 2];
  return text === undefined ? `texts:${line}` : `${text.path}:${text.line}`;
}
