import { type Browser, chromium } from "playwright-core";

/** Flags that keep Chromium from connecting to its own servers, which a closed network refuses many times. */
const args = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"];

/** Starts Chromium without its own sandbox, which needs rights that root in a container does not have. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args, chromiumSandbox: false });
}
