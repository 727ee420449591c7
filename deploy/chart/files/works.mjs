// Run by `helm test` in a Pod: checks for a minute whether a replica leads and the webhook is registered.
import { setTimeout } from "node:timers/promises";

const { LEASE, WEBHOOK } = process.env;

async function get(path) {
  const found = await request("GET", path);
  if (found === undefined) throw new Error(`${path}: 404`);
  return found;
}

async function aReplicaLeads() {
  const { spec } = await get(LEASE);
  const { holderIdentity, acquireTime, renewTime, leaseDurationSeconds = 0, leaseTransitions = 0 } = spec ?? {};
  if (!holderIdentity) throw new Error("the Lease has no holder");
  // Clocks of nodes may differ by seconds. A stopped Wave has not renewed for longer.
  const seconds = (Date.now() - Date.parse(renewTime)) / 1000;
  if (seconds > 4 * leaseDurationSeconds)
    throw new Error(`${holderIdentity} has not renewed the Lease for ${seconds} s`);
  // The replica that created the Lease leads after the lease duration: contributing/adr/0006-leader-election.md.
  const held = (Date.parse(renewTime) - Date.parse(acquireTime)) / 1000;
  if (leaseTransitions === 0 && held < leaseDurationSeconds) {
    throw new Error(`${holderIdentity} becomes leader when the Lease is ${leaseDurationSeconds} s old`);
  }
}

async function theWebhookIsRegistered() {
  for (const { name, clientConfig } of (await get(WEBHOOK)).webhooks) {
    if (!clientConfig.caBundle) throw new Error(`${name} has no caBundle`);
    if (!clientConfig.service.path?.startsWith("/mutate/")) throw new Error(`${name} has no path`);
  }
}

async function untilSo(what, check) {
  for (let tries = 60; ; tries -= 1) {
    const problem = await check().then(
      () => undefined,
      (error) => error,
    );
    if (problem === undefined) return console.log(`yes: ${what}`);
    if (tries === 0) {
      console.error(`no: ${what}: ${problem.message}`);
      process.exit(1);
    }
    await setTimeout(1000);
  }
}

if (LEASE) await untilSo(`a replica leads, by ${LEASE}`, aReplicaLeads);
if (WEBHOOK) await untilSo(`the webhook is registered, in ${WEBHOOK}`, theWebhookIsRegistered);
