/** Lines of a terminal, as a picture shows them. */
export interface Recording {
  /** What the picture shows, for people who do not see it. */
  readonly label: string;
  readonly lines: readonly string[];
  /** Seconds until the last line appears; undefined: all lines are there at once. */
  readonly seconds?: number;
}

const columns = 88;
const lineHeight = 19;
const margin = 16;
const columnWidth = 8.45;

/**
 * Returns an SVG picture of a terminal. Its text can be selected, its colours follow the light or dark theme of the reader, and it shows all
 * lines at once to a reader who prefers reduced motion.
 */
export function terminalPicture({ label, lines, seconds }: Recording): string {
  const rows = lines.flatMap(wrapped);
  const [width, height] = [Math.ceil(columns * columnWidth) + 2 * margin, rows.length * lineHeight + 2 * margin];
  const texts = rows.map((row, at) => {
    const delay = seconds === undefined ? "" : ` style="animation-delay:${((seconds * at) / rows.length).toFixed(1)}s"`;
    const y = margin + lineHeight * at + 14;
    return `  <text x="${margin}" y="${y}" class="${classOf(row)}"${delay}>${escaped(row)}</text>`;
  });
  // librsvg keeps spaces only with xml:space, and browsers also with the style.
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(label)}">
  <title>${escaped(label)}</title>
  <style>
    text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre; fill: #17242b }
    .screen { fill: #f8fafb; stroke: #d5dde1 }
    .title { font-weight: 700 }
    .command { fill: #0b6477 }
    .event { fill: #9a3f1b }
    @media (prefers-color-scheme: dark) {
      text { fill: #e8eef1 }
      .screen { fill: #1b1f22; stroke: #3a454b }
      .command { fill: #6cc5d6 }
      .event { fill: #f0a07c }
    }
${seconds === undefined ? "" : animation}  </style>
  <rect class="screen" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6"/>
${texts.join("\n")}
</svg>
`;
}

const animation = `    @media (prefers-reduced-motion: no-preference) {
      text { animation: appear 0.2s both }
      @keyframes appear { from { opacity: 0 } }
    }
`;

/** Returns the lines of a picture, without its markup. */
export function linesOf(picture: string): readonly string[] {
  return Array.from(picture.matchAll(/<text [^>]*>(.*)<\/text>/g), ([, text = ""]) =>
    text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
  );
}

/** Breaks a line that is too long between words, and indents the rest like the line. */
export function wrapped(line: string): readonly string[] {
  const indent = /^ */.exec(line)?.[0] ?? "";
  const rows: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const at = rest.lastIndexOf(" ", columns);
    if (at <= indent.length) break;
    rows.push(rest.slice(0, at).trimEnd());
    rest = `${indent}  ${rest.slice(at + 1)}`;
  }
  return [...rows, rest];
}

function classOf(row: string): string {
  if (/^ *\$ /.test(row)) return "command";
  if (/^\d\. /.test(row)) return "title";
  return /^ *(?:Event|Warning) /.test(row) ? "event" : "line";
}

/** Returns a text as markup. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
