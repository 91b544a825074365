"""Memory accesses of a kernel: the bytes that the lanes of a warp touch, and in how many transactions. See README.md."""

from sassan.access.accesses import Access, accesses, assumptions

__all__ = ["Access", "accesses", "assumptions"]
