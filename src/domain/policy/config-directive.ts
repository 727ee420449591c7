import type { CompatibilitySettings } from "../compatibility/settings.ts";
import { isMarked, stakaterIgnore } from "../compatibility/stakater.ts";
import { annotationPrefix } from "../references/annotations.ts";

/**
 * What a ConfigMap or Secret says of rolls for it: none for now, or none ever, because it does not count; "unclear" where
 * one of the two annotations says neither "true" nor "false", so that nobody is rolled for it until somebody mends that;
 * "unselected" where flags leave it out, whatever it says.
 */
export type Asks = "hold" | "ignore" | "unclear" | "unselected";

/**
 * What the annotations `ignore` and `hold` of a ConfigMap or Secret say, and those of other dialects that are understood;
 * undefined where it asks for nothing.
 */
export function asksOf(
  annotations: Readonly<Record<string, string>> | null | undefined,
  compatibility?: CompatibilitySettings,
): Asks | undefined {
  if (isMarked(annotations, stakaterIgnore, compatibility)) return "ignore";
  const ignore = said(annotations?.[`${annotationPrefix}ignore`]);
  const hold = said(annotations?.[`${annotationPrefix}hold`]);
  if (ignore === "yes") return "ignore";
  if (ignore === "unclear" || hold === "unclear") return "unclear";
  return hold === "yes" ? "hold" : undefined;
}

function said(text: string | undefined): "yes" | "no" | "unclear" {
  switch (text?.trim()) {
    case "true":
      return "yes";
    case undefined:
    case "":
    case "false":
      return "no";
    default:
      return "unclear";
  }
}
