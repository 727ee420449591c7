-- A health check for Argo CD: its built-in checks of Deployment, StatefulSet and DaemonSet, and the annotation in which Wave notes a rollout
-- that Wave holds or halted. docs/gitops.md describes how to install it.
local spec, status = obj.spec or {}, obj.status or {}
local generation, observed = obj.metadata.generation or 0, status.observedGeneration or 0
local strategy = spec.updateStrategy or {}

local function deployment()
  local updated, available = status.updatedReplicas or 0, status.availableReplicas or 0
  if spec.paused then return "Suspended", "The Deployment is paused." end
  if generation > observed then return "Progressing", "The change is not observed yet." end
  for _, condition in ipairs(status.conditions or {}) do
    if condition.type == "Progressing" and condition.reason == "ProgressDeadlineExceeded" then
      return "Degraded", "The Deployment exceeded its progress deadline."
    end
  end
  if spec.replicas and updated < spec.replicas then return "Progressing", "Pods are being replaced." end
  if (status.replicas or 0) > updated then return "Progressing", "Old Pods are terminating." end
  if available < updated then return "Progressing", "New Pods are not available yet." end
  return "Healthy"
end

local function statefulSet()
  local rolling = strategy.type == "RollingUpdate" and strategy.rollingUpdate
  if observed == 0 or generation > observed then return "Progressing", "The change is not observed yet." end
  if spec.replicas and (status.readyReplicas or 0) < spec.replicas then return "Progressing", "Pods are not ready." end
  if rolling then
    local wanted = spec.replicas and rolling.partition and spec.replicas - rolling.partition
    if wanted and (status.updatedReplicas or 0) < wanted then return "Progressing", "Pods are being replaced." end
    return "Healthy"
  end
  if strategy.type == "OnDelete" or status.updateRevision == status.currentRevision then return "Healthy" end
  return "Progressing", "Pods are being replaced."
end

local function daemonSet()
  local desired = status.desiredNumberScheduled or 0
  if generation > observed then return "Progressing", "The change is not observed yet." end
  if strategy.type == "OnDelete" then return "Healthy" end
  if (status.updatedNumberScheduled or 0) < desired then return "Progressing", "Pods are being replaced." end
  if (status.numberAvailable or 0) < desired then return "Progressing", "New Pods are not available yet." end
  return "Healthy"
end

local checks = { Deployment = deployment, StatefulSet = statefulSet, DaemonSet = daemonSet }
local health, message = checks[obj.kind]()
local noted = (obj.metadata.annotations or {})["wave.pusher.com/state"] or ""
-- Argo CD offers no string library to health checks, but texts can be compared.
local function begins(text) return noted >= text and noted < text .. "~" end
if begins('{"state":"held","reason":"halted"') then
  health, message = "Degraded", "Wave halted this rollout, because other workloads failed. Run wave explain."
elseif begins('{"state":"held","reason":"validator"') then
  health, message = "Degraded", "Wave halted this rollout, because a validator has not passed. Run wave explain."
elseif begins('{"state":"held"') and health ~= "Degraded" then
  health, message = "Progressing", "Wave holds a rollout. Run wave explain."
end
return { status = health, message = message or "" }
