#!/usr/bin/env node
// In the PATH it makes `kubectl wave …` of `wave …`.
process.env.WAVE_PROGRAM = "kubectl wave";
await import("../lib/start.js");
