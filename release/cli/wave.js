#!/usr/bin/env node
import "../lib/start.js";
