import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";
import { type Project, root } from "./project.ts";

/** The parts of an SPDX document that are different each time that npm writes it. */
interface Document {
  readonly packages: readonly object[];
  readonly relationships: readonly object[];
  readonly documentNamespace: string;
  readonly creationInfo: { readonly created: string; readonly creators: readonly string[] };
}

/** Writes the contents of the command line as SPDX, as npm lists them for Wave and for its page, with the time and the commit of the project. */
export async function writeCliSbom({ name, version, commit, commitTime, out }: Project): Promise<string> {
  const flags = ["sbom", "--sbom-format", "spdx", "--sbom-type", "application", "--omit", "dev", "--package-lock-only"];
  const list = async (cwd: string): Promise<Document> => JSON.parse(await run("npm", ["sbom", ...flags], { cwd }));
  const [document, page] = [await list(root), await list(join(root, "ui"))];
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
