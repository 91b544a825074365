"""Some flagship kernels of Triton, Numba and CuPy: sassan understands them; scripts/check_flagships has them all, for every SM."""

import importlib

import pytest

from budget import some, whole
from integrations.flagships.flagship import FACTS, LIMITS
from sassan.frontend.cubin.tools import tools

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (tools("ptxas") and tools("nvdisasm")), reason="no ptxas or nvdisasm is installed"),
    pytest.mark.filterwarnings("ignore::UserWarning"),  # Triton tells of defaults that will change
]

LIBRARIES = {"with_triton": "triton", "with_numba": "numba_cuda", "with_nvrtc": "nvidia.cuda_nvrtc"}
CHOSEN = [
    ("with_triton", "softmax", 80),
    ("with_triton", "product-fp16", 90),
    ("with_triton", "attention-causal", 80),
    ("with_triton", "attention", 100),
    ("with_triton", "norm-backward-x", 75),
    ("with_triton", "print", 90),
    ("with_numba", "product", 75),
    ("with_numba", "math-double", 90),
    ("with_numba", "mandelbrot", 120),
    ("with_nvrtc", "elementwise", 90),
    ("with_nvrtc", "reduction", 75),
    ("with_nvrtc", "warps", 120),
]


@whole("only another compiler changes it")
@pytest.mark.parametrize(("module", "name", "sm"), some(CHOSEN))
def test_a_flagship_kernel_has_no_gap_but_loops(module, name, sm, tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    pytest.importorskip(LIBRARIES[module], reason=f"{LIBRARIES[module]} is not installed")
    family = importlib.import_module(f"integrations.flagships.{module}").family()
    (flagship,) = (one for one in family.flagships if one.name == name)
    facts = tmp_path / "facts.toml"
    facts.write_text(FACTS)
    gaps = [(kernel.name, gap) for kernel in family.analyze(flagship.compiled(sm), facts=facts) for gap in kernel.gaps]
    assert [(kernel, gap.message) for kernel, gap in gaps if gap.code not in {"unbounded-loop", *LIMITS, *flagship.known}] == []
