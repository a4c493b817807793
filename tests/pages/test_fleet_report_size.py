"""Ten thousand devices stay within six megabytes."""

from __future__ import annotations

from fleet_views import book_of, build_large_demand, report_of, view_demand

from poolwright.pages.document import render_report
from poolwright.plan.verdict import Judgement, Verdict, exactly

NODES = 1250
MOST = 6_000_000


def test_ten_thousand_devices_and_each_of_their_claims() -> None:
    demand = build_large_demand(NODES)
    fits = tuple(
        Verdict(
            workload=one.title,
            word="always-fits",
            replicas=one.replicas,
            always=exactly(one.replicas),
            at_best=exactly(one.replicas),
            method="node search",
        )
        for one in demand.workloads
    )
    judgement = Judgement(verdicts=fits, demanded=sum(one.replicas for one in demand.workloads), shortfall=exactly(0))
    bare = view_demand(demand, judgement=judgement, losses=book_of(demand))
    (cluster,) = (report := report_of(bare)).after.clusters
    assert len(cluster.devices.name) == NODES * 8
    assert sum(unit >= 0 for unit in cluster.devices.unit) > NODES * 7
    assert len(cluster.slots.receipt) > 5000
    assert len(render_report(report)) < MOST
