/**
 * The API server passes warnings on as HTTP headers: it drops those with control characters and cuts each to 256
 * characters once all together exceed 4096
 * (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#response).
 */
const longest = 256;
const most = 10;

/** These texts as warnings that reach the person whole: single lines, each once, at most ten of 256 characters. */
export function toWarnings(texts: Iterable<string>): readonly string[] {
  const warnings = [...new Set(Array.from(texts, oneLine))].filter((text) => text !== "");
  if (warnings.length <= most) return warnings;
  return [...warnings.slice(0, most - 1), `Wave: and ${warnings.length - most + 1} more warnings`];
}

function oneLine(text: string): string {
  const characters = [
    ...text
      .toWellFormed()
      .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
      .trim(),
  ];
  return characters.length <= longest ? characters.join("") : `${characters.slice(0, longest - 1).join("")}…`;
}
