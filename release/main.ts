// `npm run release`: makes all artifacts of a version, and pushes and signs them. contributing/releasing.md describes it.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { packChart } from "./chart.ts";
import { writeChecksums } from "./checksums.ts";
import { packArchives } from "./cli-archives.ts";
import { bundleCli } from "./cli-bundle.ts";
import { buildImage } from "./image.ts";
import { writeKrewManifest } from "./krew.ts";
import { writeNotes } from "./notes.ts";
import { packNpm } from "./npm-package.ts";
import { parseRequest } from "./options.ts";
import { prepare } from "./prepare.ts";
import { projectPackage, readProject } from "./project.ts";
import { writeProvenance } from "./provenance.ts";
import { publish } from "./publish.ts";
import { writeCliSbom } from "./sboms.ts";
import { signerWith } from "./sign.ts";

async function release(registry: string | undefined, sign: string | undefined): Promise<void> {
  const started = new Date();
  const project = await readProject();
  const files = join(project.out, "files");
  await rm(project.out, { recursive: true, force: true });
  await mkdir(files, { recursive: true });

  step("notes from the changelog");
  await writeNotes(project);
  step("command line: archives, package of npm, manifest of krew");
  const bundle = await bundleCli(project);
  const archives = await packArchives(project, bundle);
  await packNpm(project, bundle);
  await writeKrewManifest(project, archives);
  await writeCliSbom(project);
  step("image for amd64 and arm64");
  const image = await buildImage(project);
  step("chart");
  const chart = await packChart(project, image, registry);
  const checksums = await writeChecksums(files);
  const provenance = await writeProvenance(project, registry, started);
  await rm(join(project.out, "stage"), { recursive: true });
  console.log(`files in ${files}\nimage   ${image.digest}`);
  if (registry === undefined) return;

  step(`push to ${registry}`);
  const published = await publish(project, image, chart, registry);
  console.log(`image   ${published.image}\nchart   ${published.chart}`);
  if (sign === undefined) return;
  step("signatures");
  const signer = signerWith(sign);
  await signer.signFile(checksums);
  await signer.attestFile(checksums, provenance);
  for (const address of [published.image, published.chart]) {
    await signer.sign(address);
    await signer.attest(address, "slsaprovenance1", provenance);
  }
  for (const { digest, sbom } of image.platforms) {
    await signer.attest(`${registry}/${project.name}@${digest}`, "spdxjson", sbom);
  }
}

function step(text: string): void {
  console.log(`== ${text}`);
}

try {
  const request = parseRequest(process.argv.slice(2), projectPackage().version);
  if (request.action === "prepare") await prepare(request.version, new Date());
  else await release(request.registry, request.sign);
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
