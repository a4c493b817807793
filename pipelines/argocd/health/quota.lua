-- A quota that is used up is as it should be; who wonders about a pod that isn't made reads it here.
local hard = at(obj, "status", "hard")
local limits, used_up = 0, 0
if type(hard) == "table" then
  for name, limit in pairs(hard) do
    limits = limits + 1
    if at(obj, "status", "used", name) == limit then
      used_up = used_up + 1
    end
  end
end
return { status = "Healthy", message = "limits used up: " .. used_up .. " of " .. limits }
