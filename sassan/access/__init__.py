"""Memory accesses of a kernel: the bytes that the lanes of a warp access, and in how many transactions. See README.md."""

from sassan.access.access import Access
from sassan.access.accesses import accesses, assumptions

__all__ = ["Access", "accesses", "assumptions"]
