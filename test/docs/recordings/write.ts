import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readDashboard } from "../../monitoring/dashboard.ts";
import { takePictures } from "../../ui/pictures.ts";
import { missingChromium } from "../chromium.ts";
import { root } from "../fences.ts";
import { dashboardPictures } from "./dashboard-picture.ts";
import { missingForDashboard, runDashboard } from "./dashboard-run.ts";
import { record } from "./recordings.ts";

const write = (name: string, picture: string | Buffer) => writeFileSync(join(root, "docs/pictures", name), picture);

for (const [name, picture] of await record()) write(name, picture);
if (missingChromium() === undefined) for (const [name, picture] of await takePictures()) write(name, picture);
else process.stderr.write(`left out: the pictures of the page. ${missingChromium()}\n`);
const missing = missingForDashboard();
if (missing === undefined) {
  const dashboard = readDashboard();
  for (const [name, picture] of dashboardPictures(dashboard, await runDashboard(dashboard))) write(name, picture);
} else process.stderr.write(`left out: the pictures of the dashboard. ${missing}\n`);
