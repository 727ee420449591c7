/**
 * The address of the project's repository, without a slash at its end, for example https://github.com/OWNER/wave. Undefined while the project has
 * no public repository: then chart, alerts and commands have no links. contributing/releasing.md describes what else the owner sets.
 */
export const repository: string | undefined = undefined;
