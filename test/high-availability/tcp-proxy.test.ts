import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, it } from "vitest";
import { startTcpProxy } from "./tcp-proxy.ts";

it("the proxy forwards nothing while it is cut, closes no connection, and delivers the data later", async () => {
  const server = createServer((socket) => socket.on("data", (chunk) => socket.write(`echo ${chunk}`)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const proxy = await startTcpProxy(new URL(`https://127.0.0.1:${port}`));
  const open = async (): Promise<{ socket: Socket; text: () => string }> => {
    const socket = connect(proxy.port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    await once(socket, "connect");
    return { socket, text: () => text };
  };
  const before = await open();
  before.socket.write("a");
  await expect.poll(before.text).toBe("echo a");

  proxy.cut();
  before.socket.write("b");
  const during = await open();
  during.socket.write("c");
  // Through a separate proxy, so that wrongly forwarded data has time to arrive.
  const control = await startTcpProxy(new URL(`https://127.0.0.1:${port}`));
  const beside = connect(control.port, "127.0.0.1", () => beside.write("x"));
  await once(beside, "data");
  expect([before.text(), during.text()]).toEqual(["echo a", ""]);
  expect([before.socket.destroyed, during.socket.destroyed]).toEqual([false, false]);

  proxy.mend();
  await expect.poll(before.text).toBe("echo aecho b");
  await expect.poll(during.text).toBe("echo c");
  for (const { socket } of [before, during]) socket.destroy();
  beside.destroy();
  proxy.close();
  control.close();
  server.close();
});
