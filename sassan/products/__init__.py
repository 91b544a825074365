"""GPUs as they are sold: SMs, clocks, memory, each figure with its source (`data/`)."""

from sassan.products.files import FORMAT, PEAKS, VECTOR, between_launches, block_cycles, read_file
from sassan.products.lookup import find, products
from sassan.products.product import ON_TARGET, Peak, Product

__all__ = ["FORMAT", "ON_TARGET", "PEAKS", "VECTOR", "Peak", "Product", "between_launches", "block_cycles", "find", "products", "read_file"]
