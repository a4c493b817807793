"""Maximum flow with integer capacities, by Dinic's method."""

from __future__ import annotations

from collections import deque
from typing import Final

UNBOUNDED: Final = 1 << 60


class Flow:
    """A network that keeps its flow: edges and room may be added, and `augment` goes on from there.

    Nodes are numbers below `size`. The same edges in the same order give the same flow.
    Cost: O(nodes² x edges) at worst; networks here are of classes, not of devices.
    """

    def __init__(self, size: int) -> None:
        self._edges: list[list[int]] = [[] for _ in range(size)]  # of a node, the numbers of the edges that leave it
        self._to: list[int] = []
        self._room: list[int] = []  # of edge e; e ^ 1 is the way back

    def add_edge(self, start: int, end: int, capacity: int) -> int:
        """An edge; its number is for `flow_on` and `widen`."""
        number = len(self._to)
        self._to += (end, start)
        self._room += (capacity, 0)
        self._edges[start].append(number)
        self._edges[end].append(number + 1)
        return number

    def widen(self, edge: int, by: int) -> None:
        """Give an edge more capacity."""
        self._room[edge] += by

    def flow_on(self, edge: int) -> int:
        """What flows over an edge."""
        return self._room[edge ^ 1]

    def augment(self, source: int, sink: int) -> int:
        """Make the flow a maximum one; how much was gained."""
        gained = 0
        while True:
            levels = self._level(source, sink)
            if levels[sink] < 0:
                return gained
            next_edge = [0] * len(self._edges)
            while (pushed := self._push(source, sink, levels, next_edge)) > 0:
                gained += pushed

    def reach(self, starts: list[int], *, without: int) -> set[int]:
        """The nodes that more could flow to from these, not by way of `without`."""
        seen = {*starts, without}
        queue = deque(starts)
        while queue:
            for edge in self._edges[queue.popleft()]:
                end = self._to[edge]
                if self._room[edge] > 0 and end not in seen:
                    seen.add(end)
                    queue.append(end)
        return seen - {without}

    def _level(self, source: int, sink: int) -> list[int]:
        levels = [-1] * len(self._edges)
        levels[source] = 0
        queue = deque((source,))
        while queue and levels[sink] < 0:
            node = queue.popleft()
            for edge in self._edges[node]:
                end = self._to[edge]
                if self._room[edge] > 0 and levels[end] < 0:
                    levels[end] = levels[node] + 1
                    queue.append(end)
        return levels

    def _push(self, source: int, sink: int, levels: list[int], next_edge: list[int]) -> int:
        """Flow over one more shortest path; without recursion, as paths may be long."""
        path: list[int] = []
        node = source
        while node != sink:
            edge = self._next(node, levels, next_edge)
            if edge >= 0:
                path.append(edge)
                node = self._to[edge]
            elif path:
                node = self._to[path.pop() ^ 1]
                next_edge[node] += 1
            else:
                return 0
        pushed = min(self._room[edge] for edge in path)
        for edge in path:
            self._room[edge] -= pushed
            self._room[edge ^ 1] += pushed
        return pushed

    def _next(self, node: int, levels: list[int], next_edge: list[int]) -> int:
        """The first edge from a node that leads on and isn't known to end nowhere; -1: there is none."""
        edges = self._edges[node]
        while next_edge[node] < len(edges):
            edge = edges[next_edge[node]]
            if self._room[edge] > 0 and levels[self._to[edge]] == levels[node] + 1:
                return edge
            next_edge[node] += 1
        return -1
