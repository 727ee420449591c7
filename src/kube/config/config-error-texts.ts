/** The problem of a text that becomes a header of requests. It follows the name of a field or file. */
export const controlCharacter = "contains a control character, such as a line break; remove it";

/** The errors about kubeconfigs and credentials, one line each. */
export const configErrorTexts = {
  noCluster: (home: string) =>
    `no cluster configured: $KUBECONFIG is not set, Wave does not run in a Pod, and ${home} does not exist; set --kubeconfig FILE`,
  noHome:
    "no cluster configured: $KUBECONFIG is not set, Wave does not run in a Pod, and the user has no home directory; set --kubeconfig FILE",
  noServiceAccount: (folder: string, cause: string) =>
    `cannot read the ServiceAccount of the Pod in ${folder}: ${cause}; set automountServiceAccountToken: true`,
  groupWithoutUser: "--as-group needs --as, the user to impersonate",
  flagFileNotFound: (file: string) => `--kubeconfig: file ${file} not found`,
  variableFilesNotFound: (files: string) => `$KUBECONFIG: no such file: ${files}`,
  kubeconfigUnreadable: (file: string, cause: string) => `cannot read kubeconfig ${file}: ${cause}`,
  noContext: (files: string, choice: string) => `${files}: current-context is not set; set --context (${choice})`,
  contextNotFound: (files: string, name: string, choice: string) => `${files}: context ${name} not found (${choice})`,
  pluginFailed: (file: string, place: string, command: string, cause: string) =>
    `${file}: ${place}: credential plugin ${command} failed: ${cause}`,
  invalidProxy: (variable: string) =>
    `$${variable} is not a URL of a proxy; use http://, https:// or socks5:// with a host and a port`,
  tokenUnreadable: (file: string, cause: string) => `cannot read token file ${file}: ${cause}`,
  tokenFileControl: (file: string) => `token file ${file} ${controlCharacter}`,
  tokenEmpty: (file: string) => `token file ${file} is empty`,
} as const;
