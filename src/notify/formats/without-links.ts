/** Breaks URLs, so that no client shows a link. Otherwise anyone who names an object could choose its target. */
export function withoutLinks(text: string): string {
  return text.replaceAll("://", ": //");
}
