import type { Section } from "../../lib/yaml-mapping.ts";
import { ClusterConfigError } from "../api/errors.ts";
import type { ClusterConfig } from "./cluster-access.ts";
import { configErrorTexts } from "./config-error-texts.ts";
import { bearer, fixedCredentials, unchanging, withHeaders } from "./credentials.ts";

/**
 * Values of flags that replace fields of the kubeconfig, with the rules of client-go
 * (https://pkg.go.dev/k8s.io/client-go/tools/clientcmd#ConfigOverrides).
 */
export interface ConfigOverrides {
  readonly server?: string | undefined;
  readonly token?: string | undefined;
  readonly as?: string | undefined;
  readonly asGroups?: readonly string[] | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
}

/** Returns a cluster of the kubeconfig with overrides. The expected name and the authorities belong to the replaced server and check. */
export function overrideCluster(cluster: Section, { server, insecureSkipTlsVerify }: ConfigOverrides): Section {
  return cluster.with({
    ...(server !== undefined && { server, "tls-server-name": undefined }),
    ...(insecureSkipTlsVerify && {
      "insecure-skip-tls-verify": true,
      "certificate-authority": undefined,
      "certificate-authority-data": undefined,
    }),
  });
}

/** Returns a user of the kubeconfig with overrides. @throws ClusterConfigError for groups without a user to impersonate. */
export function overrideUser(user: Section, { token, as, asGroups }: ConfigOverrides): Section {
  if (asGroups !== undefined && as === undefined && !user.has("as"))
    throw new ClusterConfigError(configErrorTexts.groupWithoutUser);
  return user.with({
    ...(token !== undefined && { token, tokenFile: undefined }),
    ...(as !== undefined && { as }),
    ...(asGroups !== undefined && { "as-groups": asGroups }),
  });
}

/** Returns the configuration of a Pod with overrides, except the server. @throws ClusterConfigError as {@link overrideUser}. */
export function overridePod(
  pod: ClusterConfig,
  { token, as, asGroups = [], insecureSkipTlsVerify }: ConfigOverrides,
): ClusterConfig {
  if (asGroups.length > 0 && as === undefined) throw new ClusterConfigError(configErrorTexts.groupWithoutUser);
  const own = token === undefined ? pod.credentials : fixedCredentials(bearer(token));
  const groups = asGroups.length === 0 ? {} : { "impersonate-group": [...asGroups] };
  return {
    ...pod,
    tls: insecureSkipTlsVerify ? unchanging({ insecure: true }) : pod.tls,
    credentials: as === undefined ? own : withHeaders(own, { "impersonate-user": as, ...groups }),
  };
}
