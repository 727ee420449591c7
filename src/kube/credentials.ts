/** What a request carries to say who asks. An object of its own for each credential: equal means the same object. */
export interface Credential {
  /** `authorization`, and `impersonate-…` where the kubeconfig says `as`. Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** A client certificate in PEM, and its key, where a plugin gives one: connections are then made with it. */
  readonly certificate?: { readonly cert: string; readonly key: string };
}

/** Where credentials come from. */
export interface Credentials {
  /** The credential to use now. @throws ClusterConfigError where there is none, such as a plugin that fails. */
  current(): Promise<Credential>;
  /** Called when the server answered 401 to `rejected`: another credential to try once, or undefined where there is none. */
  renew(rejected: Credential): Promise<Credential | undefined>;
}
