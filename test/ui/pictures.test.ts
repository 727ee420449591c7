import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startChromium } from "../docs/chromium.ts";
import { root } from "../docs/fences.ts";
import { takePictures } from "./pictures.ts";

/** The share of the brightness in which two pictures may differ: another version of Chromium or of a font draws other edges. */
const tolerance = 0.01;

/** Compares two pictures in the browser: their sizes, and the mean difference of their pixels after each 8 are one. */
const compare = `async (first, second) => {
  const load = async (data) => createImageBitmap(await (await fetch(data)).blob());
  const bitmaps = [await load(first), await load(second)];
  const pixels = bitmaps.map((bitmap) => {
    const canvas = new OffscreenCanvas(Math.ceil(bitmap.width / 8), Math.ceil(bitmap.height / 8));
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    return context.getImageData(0, 0, canvas.width, canvas.height).data;
  });
  const sizes = bitmaps.map(({ width, height }) => width + "x" + height);
  const sum = pixels[0].reduce((all, value, index) => all + Math.abs(value - pixels[1][index]), 0);
  return { sizes, difference: sum / pixels[0].length / 255 };
}`;

it("pictures show the page as it is, as `npm run pictures` takes them", async () => {
  await using browser = await startChromium();
  if (browser === undefined) throw new Error("no Chromium");
  const tab = await browser.newPage();
  for (const [name, picture] of await takePictures()) {
    const stored = readFileSync(join(root, "docs/pictures", name));
    const [first, second] = [stored, picture].map((data) => `data:image/webp;base64,${data.toString("base64")}`);
    const { sizes, difference } = (await tab.evaluate(`(${compare})("${first}", "${second}")`)) as {
      readonly sizes: readonly string[];
      readonly difference: number;
    };
    expect(sizes[0], name).toBe(sizes[1]);
    expect(difference, name).toBeLessThan(tolerance);
  }
});
