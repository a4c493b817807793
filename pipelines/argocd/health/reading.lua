-- Stands before every script: it reads a status in which anything may be missing or odd, and never throws. Messages are
-- words of ours and counts: what an object says itself is shown beside them, and may hold anything.

-- What stands under the names, one below the other; nil where something on the way is no table.
local function at(value, ...)
  for _, name in ipairs({ ... }) do
    if type(value) ~= "table" then
      return nil
    end
    value = value[name]
  end
  return value
end

-- The tables of a list; none of what isn't a list.
local function each(list)
  local tables = {}
  if type(list) == "table" then
    for _, item in ipairs(list) do
      if type(item) == "table" then
        tables[#tables + 1] = item
      end
    end
  end
  return tables
end

-- A whole number that isn't negative, as it is; 0 for everything else.
local function count(value)
  if type(value) == "number" and value > 0 and value < 1000000 and value % 1 == 0 then
    return value
  end
  return 0
end

-- The condition of a type, unless it was said of a former generation of the object.
local function condition(conditions, kind)
  local generation = at(obj, "metadata", "generation")
  for _, said in ipairs(each(conditions)) do
    local observed = said.observedGeneration
    if said.type == kind and (observed == nil or generation == nil or observed == generation) then
      return said
    end
  end
  return {}
end
