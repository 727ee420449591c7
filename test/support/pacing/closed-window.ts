/** Returns a `window` of one minute that is closed on the day of a test and on the days around it. */
export function closedWindow(): string {
  const day = new Date(Date.now() + 3 * 86_400_000).toLocaleDateString("en", { weekday: "short", timeZone: "UTC" });
  return `${day} 00:00-00:01 UTC`;
}
