#!/usr/bin/env node
// In the PATH it makes kubectl complete `kubectl wave …`.
process.argv.splice(2, 0, "__complete");
await import("../lib/start.js");
