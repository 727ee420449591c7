/** The file of `--notify` cannot be used: one line that says where in it, what is wrong, and never what its secrets are. */
export class NotifyFileError extends Error {
  override readonly name = "NotifyFileError";
}
