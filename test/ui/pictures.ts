import { startChromium } from "../docs/chromium.ts";
import { servePage } from "./page-server.ts";
import { recordedModel } from "./recorded-model.ts";

/** The time of the pictures, so that each run draws the same. */
const moment = Date.UTC(2026, 10, 26, 14, 30);

const places = {
  needs: "?view=needs",
  rolling: "?view=rolling",
  workload: "?view=workload&id=east/shop/deployment/recommendations",
  timeline: "?view=timeline",
  act: "?view=act",
} as const;

/** Resolves to the pictures of the five views in docs/pictures, light and dark, by file name. Throws without Chromium. */
export async function takePictures(): Promise<ReadonlyMap<string, Buffer>> {
  const browser = await startChromium();
  if (browser === undefined) throw new Error("no Chromium");
  const server = await servePage(recordedModel(moment), () => moment);
  const pictures = new Map<string, Buffer>();
  for (const colorScheme of ["light", "dark"] as const) {
    const context = await browser.newContext({
      viewport: { width: 1200, height: 700 },
      colorScheme,
      locale: "en-GB",
      timezoneId: "UTC",
      reducedMotion: "reduce",
    });
    const tab = await context.newPage();
    const session = await context.newCDPSession(tab);
    await tab.clock.setFixedTime(moment);
    for (const [name, place] of Object.entries(places)) {
      await tab.goto(server.url + place);
      await tab.locator("main h1").waitFor();
      await tab.getByText("Reading").waitFor({ state: "detached" });
      const height = Number(await tab.evaluate("document.body.scrollHeight"));
      const clip = { x: 0, y: 0, width: 1200, height: Math.min(height, 1100), scale: 1 };
      const options = { format: "webp", quality: 75, captureBeyondViewport: true, clip } as const;
      const { data } = await session.send("Page.captureScreenshot", options);
      pictures.set(`page-${name}-${colorScheme}.webp`, Buffer.from(data, "base64"));
    }
    await context.close();
  }
  await browser.close();
  await server[Symbol.asyncDispose]();
  return pictures;
}
