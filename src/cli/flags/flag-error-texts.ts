import { quoted } from "../../domain/syntax/wording.ts";

/** The errors about flags of all commands, one line each. */
export const flagErrorTexts = {
  invalidFlag: (word: string) => `invalid flag ${quoted(word)}`,
  unknownFlag: (word: string) => `unknown flag ${quoted(word)}; --help-all lists all flags`,
  misspeltFlag: (word: string, meant: string) => `unknown flag ${quoted(word)}; did you mean ${meant}?`,
  noValue: (source: string, allowed: string) => `${source} has no value; use ${allowed}`,
  invalidValue: (source: string, value: string, allowed: string) =>
    `invalid ${source}: ${quoted(value)}; use ${allowed}`,
} as const;
