if (Number(process.versions.node.split(".")[0]) < 24) {
  console.error(`wave: needs Node 24 or newer; this is Node ${process.versions.node}`);
  process.exit(1);
}
await import("./main.js");
