-- Waited for as Argo CD waits for a Deployment: old claim templates go when the groups of the new revision are ready.
local status = at(obj, "status")
local generation = at(obj, "metadata", "generation")
local observed = at(status, "observedGeneration")
if type(observed) == "number" and type(generation) == "number" and observed < generation then
  return { status = "Progressing", message = "its controller hasn't seen the last change yet" }
end

local replicas = at(obj, "spec", "replicas")
local wanted = replicas == nil and 1 or count(replicas)
local counts = "groups ready " .. count(at(status, "readyReplicas"))
  .. ", of the last revision " .. count(at(status, "updatedReplicas")) .. ", wanted " .. wanted

-- Releases before 0.9 say the generation only with each condition.
for _, kind in ipairs({ "UpdateInProgress", "Progressing" }) do
  local said = condition(at(status, "conditions"), kind)
  if said.status == "True" and generation ~= nil and (observed or said.observedGeneration) == generation then
    return { status = "Progressing", message = counts }
  end
end
if condition(at(status, "conditions"), "Available").status == "True" then
  return { status = "Healthy", message = counts }
end
return { status = "Healthy", message = "its controller says nothing about it" }
