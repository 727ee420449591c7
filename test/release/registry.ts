import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";
import { freePort, until } from "../control-plane/wave-process.ts";

const run = promisify(execFile);

/** An image registry on this machine, with TLS. */
export interface Registry {
  /** Host and port. The real node reaches it as {@link onNode}. */
  readonly address: string;
  readonly onNode: string;
  /** The file with the certificate of its authority. */
  readonly certificate: string;
  /** The environment in which programs trust the registry and find the tools of a release. */
  readonly env: NodeJS.ProcessEnv & { readonly PATH: string };
  readonly stop: () => Promise<void>;
}

/** The address of this machine for the real node of `test/node/up`. */
const hostOfNode = "10.99.0.1";

/** Undefined if the tools of a release are installed; otherwise one line with what is missing. */
export function missingReleaseTools(): string | undefined {
  const paths = [
    "/usr/bin/docker-registry",
    "/usr/bin/skopeo",
    "/usr/bin/buildah",
    join(controlPlaneFolder(), "cosign"),
  ];
  const missing = paths.find((path) => !existsSync(path));
  return missing && `${missing} is missing; test/node/install, release/install and test/release/install make it (once)`;
}

/** Starts an empty registry in a folder of its own, which `stop` removes. */
export async function startRegistry(): Promise<Registry> {
  const folder = await mkdtemp(join(tmpdir(), "wave-registry-"));
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const names = `subjectAltName=IP:127.0.0.1,IP:${hostOfNode}`;
  const request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  await run("openssl", [...request, "-subj", "/CN=registry", "-addext", names, "-keyout", key, "-out", certificate]);
  const port = await freePort();
  const config = {
    version: "0.1",
    log: { level: "error", accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(folder, "data") } },
    http: { addr: `0.0.0.0:${port}`, tls: { certificate, key } },
  };
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
  const server = spawn("docker-registry", ["serve", join(folder, "config.json")], { stdio: "ignore" });
  const ended = once(server, "close");
  const address = `127.0.0.1:${port}`;
  await until("the registry", () => run("curl", ["-sf", "--cacert", certificate, `https://${address}/v2/`]));
  await mkdir(join(folder, "home"));
  return {
    address,
    onNode: `${hostOfNode}:${port}`,
    certificate,
    env: {
      ...process.env,
      PATH: `${controlPlaneFolder()}:${process.env.PATH}`,
      // Helm, cosign and krew keep their files here.
      HOME: join(folder, "home"),
      SSL_CERT_FILE: certificate,
      COSIGN_PASSWORD: "",
    },
    stop: async () => {
      server.kill();
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}
