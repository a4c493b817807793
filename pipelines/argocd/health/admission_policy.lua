-- In force once it is stored. What type checking says of it are warnings.
local warnings = #each(at(obj, "status", "typeChecking", "expressionWarnings"))
if warnings > 0 then
  return { status = "Healthy", message = "in force; type checking warns of expressions: " .. warnings }
end
return { status = "Healthy", message = "in force" }
