"""What a processor does with the bits of a word in one instruction, for compiled functions."""

from typing import TYPE_CHECKING, Any, cast

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

if TYPE_CHECKING:
    from collections.abc import Callable


def _trailing_zeros(typing: object, word: object) -> object:
    del typing, word

    def code(context: object, builder: Any, signature: object, arguments: Any) -> Any:  # noqa: ANN401  # the compiler has no types
        del context, signature
        return builder.cttz(arguments[0], cgutils.true_bit)

    return types.uint64(types.uint64), code


trailing_zeros = cast("Callable[[Any], Any]", intrinsic(_trailing_zeros))
"""The number of zero bits below the lowest set bit of an unsigned word of 64 bits that is not 0."""
