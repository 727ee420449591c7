import type { Appearances, GlossaryTerm } from "./glossary.ts";

/** The search of the site leaves the page out: it has a word of every question and answers none. */
const introduction = `
---
search: false
---
<!-- Made by \`npm run chart\` from deploy/values/glossary.ts. -->
# Glossary
One word for one concept: flags, annotations, metrics, Events, commands, docs and code use the same words.
`;

const places: Readonly<Record<keyof Appearances, (name: string) => string>> = {
  flags: (name) => `\`--${name}\``,
  annotations: (name) => `annotation \`${name}\``,
  commands: (name) => `\`wave ${name}\``,
  events: (name) => `Event \`${name}\``,
  outcomes: (name) => `outcome \`${name}\``,
  states: (name) => `metric state \`${name}\``,
  holds: (name) => `hold \`${name}\``,
  listed: (name) => `state \`${name}\``,
  metrics: (name) => `\`${name}\``,
};

/** Returns contributing/glossary.md: each term with its definition and the names in which it appears. */
export function glossaryPage(terms: readonly GlossaryTerm[]): string {
  const lines = terms.map(({ term, definition, appears = {} }) => {
    const where = (Object.keys(places) as (keyof Appearances)[]).flatMap((place) =>
      (appears[place] ?? []).map(places[place]),
    );
    return `| ${term} | ${definition} | ${where.join(", ")} |`;
  });
  return `${[introduction.trim(), "", "| term | definition | appears as |", "|---|---|---|", ...lines].join("\n")}\n`;
}
