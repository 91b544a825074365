"""Peak rates of products, from the lanes of their SMs, their SMs and their clock, against those that data sheets print."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sassan.app.options import machine_of_product
from sassan.machine import Multiprocessor
from sassan.machine.pipes import TENSOR
from sassan.products import VECTOR, Peak, Product

TOLERANCE = Fraction(1, 100)
"""Part of the printed rate by which the computed one may differ."""
_OPERATIONS = 2
"""Of one multiply-add."""
_MEGA_OF_TERA = 1_000_000
_WARPGROUP = "GMMA."
_HOPPER = 9
"""The major version of the SMs that have products of a warpgroup, though those behind inherit their rows."""
_OPCODES: Mapping[str, tuple[str, ...]] = {
    "fp64_tensor": ("DMMA.16x8x16", "DMMA.884"),
    "tf32": ("HGMMA.64x256x8.F32.TF32", "UTCHMMA.TF32", "HMMA.1688.F32.TF32"),
    "fp16": ("HGMMA.64x256x16.F16", "UTCHMMA", "HMMA.16816.F16", "HMMA.1688.F16"),
    "fp16_single": ("HGMMA.64x256x16.F32", "UTCHMMA", "HMMA.16816.F32", "HMMA.1688.F32", "HMMA.884.F32.F32.STEP0"),
    "fp8": ("QGMMA.64x256x32.F16.E4M3.E4M3", "UTCQMMA", "QMMA.16832.F16.E4M3.E4M3"),
    "fp8_single": ("QGMMA.64x256x32.F32.E4M3.E4M3", "UTCQMMA", "QMMA.16832.F32.E4M3.E4M3"),
    "int8": ("IGMMA.64x256x32.S8.S8", "UTCIMMA", "IMMA.16832.S8.S8", "IMMA.8816.S8.S8"),
    "int4": ("IMMA.16864.S4.S4", "IMMA.8832.S4.S4"),
    "fp4": ("UTCOMMA", "OMMA.SF.16864.F32.E2M1.E2M1"),
}
"""The products of each kind, the fastest first: those of a warpgroup or of tensor memory, of the largest shape of a warp."""


@dataclass(frozen=True, slots=True)
class PeakCheck:
    """The rate of one kind of a product, in 10^12 operations a second; `computed` is None where no row of the unit map has that kind."""

    product: str
    peak: Peak
    computed: Fraction | None

    @property
    def ratio(self) -> float | None:
        """Return the computed rate over the printed one."""
        return float(self.computed / Fraction(self.peak.printed)) if self.computed is not None else None

    @property
    def agrees(self) -> bool:
        """Say whether both rates are the same, within the tolerance or the digits that are printed."""
        if self.computed is None:
            return False
        printed = Fraction(self.peak.printed)
        exponent = Decimal(self.peak.printed).as_tuple().exponent
        half = Fraction(10) ** int(exponent) / 2
        return abs(self.computed - printed) <= max(printed * TOLERANCE, half)


def check_peaks(product: Product) -> tuple[PeakCheck, ...]:
    """Return the check of each rate that the data sheet of a product has."""
    sm = machine_of_product(product, "").sm
    return tuple(PeakCheck(product.name, peak, _computed(sm, product, peak)) for peak in product.peaks)


def _computed(sm: Multiprocessor, product: Product, peak: Peak) -> Fraction | None:
    adds = Fraction(sm.lanes[peak.kind]) if peak.kind in VECTOR else _products(sm, peak.kind)
    return adds * _OPERATIONS * product.sms * peak.clock / _MEGA_OF_TERA if adds else None


def _products(sm: Multiprocessor, kind: str) -> Fraction | None:
    """Return the multiply-adds of a kind that one SM does per clock."""
    opcodes = (opcode for opcode in _OPCODES[kind] if sm.number // 10 == _HOPPER or _WARPGROUP not in opcode)
    rows = (pipe for opcode in opcodes for pipe in sm.pipes if pipe.names and pipe.matches(TENSOR, opcode))
    return next((pipe.rate(sm.lanes) for pipe in rows), None)
