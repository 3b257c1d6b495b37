"""The passes over instances in logarithms: for scores that plain numbers cannot hold, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.batch import Batch, Integers, Layout, Reals, Workspace, compiled, whole
from groundling.overlay.inside_outside_log import inside_log, outside_log
from groundling.overlay.passes import (
    EXPECT,
    LEARN,
    UNITS,
    return_text_free,
    score_text_free,
    weigh,
)
from groundling.overlay.potentials import Potentials

__all__ = ["pass_instance_in_logs"]


@compiled
def pass_instance_in_logs(
    batch: Batch, layout: Layout, instance: int, potentials: Potentials, workspace: Workspace,
    purpose: int, in_logs: NDArray[np.bool_], candidate_score: Reals, out_start: Integers,
    group_values: Reals, free_values: Reals, pair_grad: Reals, edge_grad: Reals,
) -> float:  # fmt: skip
    """Do what `pass_instances` does with those candidates of one instance that are `in_logs`."""
    groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
    words = whole(batch.instance_words[instance + 1] - batch.instance_words[instance])
    begin = whole(batch.instance_candidates[instance])
    count = whole(batch.instance_candidates[instance + 1]) - begin
    group_log, free = workspace.group_log, workspace.free
    group_weight, free_weight = workspace.group_weight, workspace.free_weight
    if purpose >= UNITS:
        group_weight = group_values[out_start[instance] : out_start[instance + 1]]
        free_weight = free_values[begin : begin + count]
        if purpose == UNITS:
            group_log, free = group_weight, free_weight
    score_text_free(batch, instance, potentials.pair_score, workspace.kind_score, free)
    for stage in range(2):
        for c in range(count):
            if not in_logs[begin + c]:
                continue
            states = whole(layout.candidate_states[begin + c])
            rows = workspace.log_rows[: words * states].reshape(words, states)
            messages = workspace.log_messages[: words * states].reshape(words, states)
            if stage == 0:
                logs = group_log[c * groups : (c + 1) * groups]
                logs[:] = 0.0
            else:
                # Charts are not kept: fill this one again, on the way back.
                logs = workspace.group_shift[:groups]
            inside_log(batch, instance, begin + c, potentials, False, workspace.log_start, rows,
                       messages, workspace.asked, logs)  # fmt: skip
            if stage == 1:
                chart = workspace.posteriors[: words * states].reshape(words, states)
                outside_log(batch, instance, begin + c,
                            group_weight[c * groups : (c + 1) * groups], potentials,
                            workspace.log_start, rows, messages, workspace.asked, chart, pair_grad,
                            edge_grad)  # fmt: skip
        if stage == 0:
            loss = 0.0
            if purpose <= LEARN:
                end = begin + count
                loss = weigh(groups, batch.instance_weight[instance],
                             batch.candidate_gold[begin:end], group_log, free,
                             candidate_score[begin:end], group_weight, free_weight)  # fmt: skip
            if purpose not in (LEARN, EXPECT):
                return loss
    # Where there is a way back, all candidates are in logarithms.
    return_text_free(batch, instance, free_weight, pair_grad, workspace.kind_weight)
    return loss
