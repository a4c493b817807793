-- Something that others read, and say whether they accept it: gateways a pool, Prometheus a monitor or a rule. Who
-- hasn't said anything may never do so: that is no reason to wait.
local sayers = { { conditions = at(obj, "status", "conditions") } }
for _, parent in ipairs(each(at(obj, "status", "parents"))) do
  if at(parent, "parentRef", "kind") ~= "Status" then -- a default's, which stands for no gateway
    sayers[#sayers + 1] = parent
  end
end
for _, binding in ipairs(each(at(obj, "status", "bindings"))) do
  sayers[#sayers + 1] = binding
end

local accepted, refused = 0, 0
for _, sayer in ipairs(sayers) do
  local answers = {}
  for _, kind in ipairs({ "Accepted", "ResolvedRefs", "Ready" }) do
    answers[condition(sayer.conditions, kind).status or "Unknown"] = true
  end
  if answers["False"] then
    refused = refused + 1
  elseif answers["True"] then
    accepted = accepted + 1
  end
end

if refused > 0 then
  local answered = accepted + refused
  return { status = "Degraded", message = "refused by " .. refused .. " of " .. answered .. " that read it" }
elseif accepted > 0 then
  return { status = "Healthy", message = "accepted by all that read it: " .. accepted }
end
return { status = "Healthy", message = "nobody has said yet whether they accept it" }
