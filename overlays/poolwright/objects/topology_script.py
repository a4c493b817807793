"""The POSIX shell script of the topology statement; it runs on any serving image and needs no command but the shell.

Kubernetes fills `$(NAME)` in a container's arguments where NAME is one of its variables, and leaves everything else in
parentheses alone; it would halve a doubled dollar sign, so there is none.
"""

from __future__ import annotations

from typing import Final

SCRIPT: Final = r"""
# Compares what the kernel says of the claimed devices. Arguments:
#   same:ATTRIBUTE     all accelerators have one value of it
#   each:ATTRIBUTE:N   beside each accelerator, N network cards have its value
# ATTRIBUTE is pcieRoot or numaNode. Ends with 0 if all of it holds, else with 1 and one line that says what doesn't.
set -eu
root=${POOLWRIGHT_ROOT:-} # in front of /dev, /proc and /sys; tests set it

fail() {
  echo "topology: $1" >&2
  exit 1
}

# Which PCI device the kernel has under a name: /sys/devices/pci0000:16/0000:16:01.0/0000:1b:00.0
locate() {
  (cd -P "$1" 2>/dev/null && pwd -P) || fail "$1 can't be read"
}

# A device node is in the container only if its device is claimed: all of /sys is, whatever the claim.
list_nvidia() {
  for node in "$root"/dev/nvidia[0-9]*; do
    [ -e "$node" ] || continue
    minor=${node##*/nvidia}
    address=
    for info in "$root"/proc/driver/nvidia/gpus/*/information; do
      [ -r "$info" ] || continue
      while read -r first second value; do
        if [ "$first $second $value" = "Device Minor: $minor" ]; then
          address=${info%/*}
          address=${address##*/}
        fi
      done <"$info"
    done
    [ -n "$address" ] || fail "the driver doesn't say which PCI device /dev/nvidia$minor is"
    locate "$root/sys/bus/pci/devices/$address"
  done
}

# Of other vendors.
list_render_nodes() {
  for node in "$root"/dev/dri/renderD*; do
    [ -e "$node" ] || continue
    locate "$root/sys/class/drm/${node##*/}/device"
  done
}

# RDMA devices whose node is there, and interfaces that were moved into the pod; virtual ones have no device.
list_companions() {
  for node in "$root"/dev/infiniband/uverbs*; do
    [ -e "$node" ] || continue
    locate "$root/sys/class/infiniband_verbs/${node##*/}/device"
  done
  for link in "$root"/sys/class/net/*/device; do
    [ -e "$link" ] || continue
    locate "$link"
  done
}

# Words without repetitions.
unique() {
  seen=
  for word; do
    case " $seen " in *" $word "*) ;; *) seen="$seen $word" ;; esac
  done
  echo "$seen"
}

# The value of an attribute on a located device.
read_value() {
  if [ "$1" = pcieRoot ]; then
    below=${2#"$sys"}
    case $below in */pci*/*) ;; *) fail "${2##*/} is on no PCI root" ;; esac
    below=${below#*/pci}
    echo "pci${below%%/*}"
  else
    value=
    if [ -r "$2/numa_node" ]; then read -r value <"$2/numa_node" || :; fi
    [ -n "$value" ] || fail "$2/numa_node can't be read"
    echo "$value"
  fi
}

# How many devices have a value: count ATTRIBUTE VALUE DEVICE...
count() {
  attribute=$1 wanted=$2 number=0
  shift 2
  for device; do
    value=$(read_value "$attribute" "$device")
    if [ "$value" = "$wanted" ]; then number=$((number + 1)); fi
  done
  echo "$number"
}

sys=$(locate "$root/sys")
found=$(list_nvidia)
[ -n "$found" ] || found=$(list_render_nodes)
accelerators=$(unique $found)
[ -n "$accelerators" ] || fail "no accelerator is visible: neither /dev/nvidia* nor /dev/dri/renderD*"

for statement; do
  kind=${statement%%:*} name=${statement#*:}
  beside=${name#*:} name=${name%%:*}
  if [ "$kind" = same ]; then
    first=
    for device in $accelerators; do
      value=$(read_value "$name" "$device")
      : "${first:=$device}" "${expected:=$value}"
      [ "$value" = "$expected" ] || fail "$name differs: ${first##*/} has $expected, ${device##*/} has $value"
    done
    unset expected
  else
    found=$(list_companions)
    companions=$(unique $found)
    [ -n "$companions" ] || fail "no network card is visible: neither /dev/infiniband/uverbs* nor an interface"
    for device in $accelerators; do
      value=$(read_value "$name" "$device")
      sharing=$(count "$name" "$value" $accelerators)
      near=$(count "$name" "$value" $companions)
      needed=$((sharing * beside))
      [ "$near" -ge "$needed" ] ||
        fail "$name differs: $value of ${device##*/} has $near network cards where $needed are claimed"
    done
  fi
done
echo "topology: as claimed: $*"
""".lstrip()
