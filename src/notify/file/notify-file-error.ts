/** The file of `--notify` is invalid. Its one line names the place and the problem and never quotes a secret. */
export class NotifyFileError extends Error {
  override readonly name = "NotifyFileError";
}
