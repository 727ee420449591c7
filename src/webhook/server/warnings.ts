/**
 * The API server sends warnings as HTTP headers. It drops warnings with control characters, and truncates each to 256 characters
 * when all together exceed 4096
 * (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#response).
 */
const maxLength = 256;
const maxWarnings = 10;

/** Returns texts as warnings that the API server sends whole: distinct single lines, at most ten of 256 characters. */
export function toWarnings(texts: Iterable<string>): readonly string[] {
  const warnings = [...new Set(Array.from(texts, oneLine))].filter((text) => text !== "");
  if (warnings.length <= maxWarnings) return warnings;
  return [...warnings.slice(0, maxWarnings - 1), `Wave: ${warnings.length - maxWarnings + 1} more warnings`];
}

function oneLine(text: string): string {
  const characters = [
    ...text
      .toWellFormed()
      .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
      .trim(),
  ];
  return characters.length <= maxLength ? characters.join("") : `${characters.slice(0, maxLength - 1).join("")}…`;
}
