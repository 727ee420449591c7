import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";
import { type Project, root } from "./project.ts";

/** The parts of an SPDX document that are different each time that npm writes it. */
interface Document {
  readonly packages: readonly { readonly SPDXID: string; readonly packageFileName: string }[];
  readonly relationships: readonly { readonly spdxElementId: string; readonly relatedSpdxElement: string }[];
  readonly documentNamespace: string;
  readonly creationInfo: { readonly created: string; readonly creators: readonly string[] };
}

/** Writes the contents of the command line as SPDX, as npm lists them for Wave and for its page, with the time and the commit of the project. */
export async function writeCliSbom({
  name,
  version,
  commit,
  commitTime,
  out,
}: Pick<Project, "name" | "version" | "commit" | "commitTime" | "out">): Promise<string> {
  const [document, page] = [await packagesOf(root), await packagesOf(join(root, "ui"))];
  const fixed: Document = {
    ...document,
    packages: [...document.packages, ...page.packages],
    relationships: [...document.relationships, ...page.relationships],
    documentNamespace: `https://spdx.org/spdxdocs/${name}-${version}-${commit}`,
    creationInfo: {
      created: new Date(commitTime * 1000).toISOString().replace(".000Z", "Z"),
      creators: ["Tool: npm sbom"],
    },
  };
  const file = join(out, "files", "cli.spdx.json");
  await mkdir(join(out, "files"), { recursive: true });
  await writeFile(file, `${JSON.stringify(fixed, null, 2)}\n`);
  return file;
}

/**
 * Returns what npm lists for a folder, without the packages that only development needs. The lock file tells which these are: `--omit dev`
 * also leaves out packages that a development package has as a peer.
 */
async function packagesOf(cwd: string): Promise<Document> {
  const flags = ["sbom", "--sbom-format", "spdx", "--sbom-type", "application", "--package-lock-only"];
  const document: Document = JSON.parse(await run("npm", flags, { cwd }));
  const lock: { readonly packages: Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }> } =
    JSON.parse(await readFile(join(cwd, "package-lock.json"), "utf8"));
  const isNeeded = (path: string) => !lock.packages[path]?.dev && !lock.packages[path]?.devOptional;
  const packages = document.packages.filter(({ packageFileName }) => isNeeded(packageFileName));
  const left = new Set(["SPDXRef-DOCUMENT", ...packages.map(({ SPDXID }) => SPDXID)]);
  const relationships = document.relationships.filter(
    ({ spdxElementId, relatedSpdxElement }) => left.has(spdxElementId) && left.has(relatedSpdxElement),
  );
  return { ...document, packages, relationships };
}
