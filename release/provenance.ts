import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Project, root } from "./project.ts";

/**
 * Writes how the artifacts were made, as the predicate of SLSA provenance (https://slsa.dev/spec/v1.0/provenance). The file is no
 * part of an artifact, because it has the time of the build.
 */
export async function writeProvenance(project: Project, registry: string | undefined, started: Date): Promise<string> {
  const { version, repository, commit, out } = project;
  const bases = (await readFile(join(root, "deploy/image/Dockerfile"), "utf8")).matchAll(
    /^FROM .*?(\S+)@sha256:(\S+)/gm,
  );
  const {
    GITHUB_SERVER_URL: server,
    GITHUB_REPOSITORY: name,
    GITHUB_RUN_ID: id,
    GITHUB_WORKFLOW_REF: workflow,
  } = process.env;
  const predicate = {
    buildDefinition: {
      buildType: `${repository}/blob/v${version}/contributing/releasing.md`,
      externalParameters: { version, ...(registry !== undefined && { registry }) },
      internalParameters: {},
      resolvedDependencies: [
        { uri: `git+${repository}`, digest: { gitCommit: commit } },
        ...Array.from(bases, ([, image, digest]) => ({ uri: `docker://${image}`, digest: { sha256: digest } })),
      ],
    },
    runDetails: {
      builder: {
        id: workflow === undefined ? `${repository}/blob/v${version}/release/main.ts` : `${server}/${workflow}`,
      },
      metadata: {
        ...(id !== undefined && { invocationId: `${server}/${name}/actions/runs/${id}` }),
        startedOn: started.toISOString(),
        finishedOn: new Date().toISOString(),
      },
    },
  };
  const file = join(out, "provenance.json");
  await writeFile(file, `${JSON.stringify(predicate, null, 2)}\n`);
  return file;
}
