import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { sourcesEnv } from "../test/support/sources-env.ts";

const program = join(import.meta.dirname, "controller.ts");

/** Runs the program of the image with these arguments, without a cluster. */
function controller(...args: readonly string[]) {
  const env = { ...sourcesEnv(), HOME: "/does/not/exist" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { env, encoding: "utf8" });
  return { status, stdout, stderr };
}

it.each([[["--version"]], [["version"]], [["run", "--version"]]])(
  "shows the version of the controller for %j",
  (args) => {
    expect(controller(...args)).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^wave \d+\.\d+\.\d+\n$/),
      stderr: "",
    });
  },
);

it("starts the controller with run and reports a mistake in one line", () => {
  expect(controller("run", "--kubeconfig=/none")).toMatchObject({
    status: 2,
    stderr: "error: --kubeconfig: file /none not found\n",
  });
});

it("has the release that helm uninstall runs", () => {
  expect(controller("release", "--scheduling-holds")).toMatchObject({
    status: 2,
    stderr: "error: no namespace given; use -n NAMESPACE, or -A for all namespaces\n",
  });
});

it.each([[["release", "deployment/web"]], [[]], [["list"]], [["demo"]]])(
  "has no other command and reports where it is: %j",
  (args) => {
    const stderr = expect.stringMatching(/^error: this image has only the controller, .* with wave on your machine\n$/);
    expect(controller(...args)).toEqual({ status: 2, stdout: "", stderr });
  },
);
