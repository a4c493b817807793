-- A claim is allocated when a pod uses it. Until then it waits for nobody, and is as it should be.
local status = at(obj, "status")
local allocation = at(status, "allocation")
local of_a_pod = #each(at(obj, "metadata", "ownerReferences")) > 0

if type(allocation) ~= "table" then
  if of_a_pod then
    return { status = "Healthy", message = "not allocated: its pod waits for devices" }
  end
  return { status = "Healthy", message = "not allocated: a pod's use allocates it" }
end

local function device_key(device)
  local parts = {}
  for place, name in ipairs({ "driver", "pool", "device", "shareID" }) do
    parts[place] = type(device[name]) == "string" and device[name] or ""
  end
  return table.concat(parts, " ")
end

local results = each(at(allocation, "devices", "results"))
local failures = {} -- by device: the conditions that say that it can't be bound to its node
for _, result in ipairs(results) do
  local kinds = {}
  if type(result.bindingFailureConditions) == "table" then
    for _, kind in ipairs(result.bindingFailureConditions) do
      kinds[kind] = true
    end
  end
  failures[device_key(result)] = kinds
end

local not_ready, not_bound = 0, 0
for _, device in ipairs(each(at(status, "devices"))) do
  if condition(device.conditions, "Ready").status == "False" then
    not_ready = not_ready + 1
  end
  local kinds = failures[device_key(device)] or {}
  for _, said in ipairs(each(device.conditions)) do
    if kinds[said.type] and said.status == "True" then
      not_bound = not_bound + 1
      break
    end
  end
end

local trouble
if not_bound > 0 then
  trouble = "allocated, but binding failed for " .. not_bound .. " of " .. #results .. " devices"
elseif not_ready > 0 then
  trouble = "allocated, but its drivers call " .. not_ready .. " of " .. #results .. " devices not ready"
end
if trouble and of_a_pod then
  return { status = "Degraded", message = trouble }
elseif trouble then
  -- One that was applied stands in a wave before its workload: Degraded would fail every sync, a rollback's too.
  return { status = "Healthy", message = trouble .. " (Degraded would stop every sync of its workload)" }
end
local users = #each(at(status, "reservedFor"))
return { status = "Healthy", message = "allocated: devices " .. #results .. ", reserved for " .. users }
