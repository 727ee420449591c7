/** How many characters of what somebody wrote a message shows. */
const mostShown = 80;

/**
 * What somebody wrote, in quotation marks, on one line and cut to 80 characters. Nothing in it steers a terminal or turns
 * the direction of what follows: Events are read in terminals, too.
 */
export function quoted(text: string): string {
  const json = JSON.stringify(text.length <= mostShown ? text : `${text.slice(0, mostShown - 1)}…`);
  return json.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A count for a person: `4,998`. */
export function counted(count: number): string {
  return `${count}`.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `a`, `a and b`, `a, b and c`, `a, b and 7 more`; `say` is asked for those alone that are shown. */
export function enumerated<T>(all: readonly T[], shown: number, say: (one: T) => string): string {
  const rest = all.length - shown;
  const said = all.slice(0, shown).map(say);
  const named = rest > 0 ? [...said, `${counted(rest)} more`] : said;
  const last = named.at(-1) ?? "nothing";
  return named.length < 2 ? last : `${named.slice(0, -1).join(", ")} and ${last}`;
}
