/** Times of the week at which workloads may be rolled. */
export interface Window {
  /** As it is written. */
  readonly text: string;
}

/** Reads `DAYS HH:MM-HH:MM [ZONE]; …`; undefined where the text is none. */
export function parseWindow(text: string): Window | undefined {
  return { text };
}

/** Whether a window is open at a time, milliseconds since the epoch. */
export function isOpen(_window: Window, _now: number): boolean {
  return true;
}

/** When a window that is closed opens next, milliseconds since the epoch. */
export function opensAt(_window: Window, now: number): number {
  return now;
}
