-- The GPU operator's own resources. It doesn't say of which generation a state is, so there is nothing to wait for.
local state = at(obj, "status", "state")
local failed = condition(at(obj, "status", "conditions"), "Error")
-- Of the reasons for an error those that no waiting mends. The others are: pods aren't ready yet.
local FAILURES = { ReconcileFailed = true, PrerequisiteNotMet = true, ConflictingNodeSelector = true }

if state == "ignored" then
  return { status = "Degraded", message = "ignored: the operator goes by another one" }
elseif failed.status == "True" and FAILURES[failed.reason] then
  return { status = "Degraded", message = "the operator failed: " .. failed.reason }
elseif state == "ready" then
  return { status = "Healthy", message = "ready" }
elseif state == "notReady" then
  return { status = "Healthy", message = "not ready: the operator waits for its pods" }
end
return { status = "Healthy", message = "the operator says nothing about it" }
