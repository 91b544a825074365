"""What comparisons say of ordinary numbers, and what that does to the path of a warp."""

from dataclasses import replace

import pytest

from listing import assemble
from sassan.app.analysis import analyze
from sassan.app.settings import Settings
from sassan.estimate import sampled_launch
from sassan.estimate.ordinary import of_ordinary_numbers
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting
from sassan.timing import models
from sassan.timing.rates import Tables
from scheduled import scheduled


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("FSETP.GE.AND P1, PT, |R22|, 105615, PT", (False, True)),
        ("FSETP.GT.AND P1, PT, R22, 105615, PT", (False, True)),
        ("FSETP.LTU.AND P1, PT, -R22, 105615, PT", (True, False)),
        ("FSETP.NEU.AND P0, PT, |R22|, +INF , PT", (True, False)),
        ("FSETP.GEU.AND P0, PT, |R23|, 1.175494350822287508e-38, PT", (True, False)),
        ("FSETP.GEU.AND P0, PT, R23, 1.175494350822287508e-38, PT", None),  # of either sign
        ("DSETP.GEU.AND P0, PT, |R2|, 2.147e9, PT", (False, True)),
        ("FSETP.GE.AND P1, PT, |R22|, 4, PT", None),
        ("FSETP.GE.AND P1, PT, R22, RZ, PT", None),
        ("FSETP.GE.AND P1, PT, |R22|, R23, PT", None),
        ("FSETP.GE.AND P1, PT, |R22|, 105615, P2", None),
        ("FSETP.GE.OR P1, PT, |R22|, 105615, PT", None),
        ("FSETP.NAN.AND P1, PT, |R22|, 105615, PT", None),
    ],
)
def test_a_comparison_with_a_very_large_or_small_number_comes_out_one_way(text: str, results: tuple[bool, bool] | None):
    (instruction, _) = assemble(f"{text}\nEXIT", "sm_86").graph().nodes[0].instructions
    assert of_ordinary_numbers(instruction) == results


@pytest.mark.parametrize(("border", "share"), [("105615", 0.0), ("0.5", 0.5)])
def test_data_of_which_nothing_is_known_take_no_slow_path(border: str, share: float):
    """A sine of a drawn number took the way for large ones every other time: kernels were estimated at 3.6 to 15 times their time."""
    text = f"""
        S2R R0, SR_TID.X                           | 2 w0
        MOV R4, 0x4                                | 5
        IMAD.WIDE.U32 R2, R0, R4, c[0x0][0x160]    | 5 wait0
        LDG.E R5, [R2.64]                          | 2 w1
        FSETP.GE.AND P0, PT, R5, {border}, PT      | 13 wait1
        @!P0 BRA quick                             | 5
        MUFU.RCP R5, R5                            | 2 w1
    quick:
        STG.E [R2.64], R5                          | 5 wait1
        EXIT                                       | 5
    """
    launch = LaunchConfiguration((1, 1, 1), (64, 1, 1), (Setting("", 0x160, 1 << 28, 8),))
    result = analyze(
        replace(scheduled(text, "sm_86"), kernel=True),
        Settings(costs=models.model("control", Tables()), launch=launch, contention=False, check=False),
    )
    found = sampled_launch.sampled_launch(result.cfg, result.isa.facts, launch, result.wcet.counts, 1000.0)
    assert found is not None
    slow = next(index for index, node in enumerate(result.cfg.nodes) if any(each.opcode.startswith("MUFU") for each in node.code))
    assert found.counted.executions[slow] == pytest.approx(share, abs=0.3 if share else 0.0)
