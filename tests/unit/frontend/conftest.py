"""Fixtures of the front end's tests."""

import pytest

from sassan.errors import InputError
from unit.frontend.listings import cuobjdump, function


@pytest.fixture
def refusal():
    """Return a function from the text of an instruction to the error that refuses it."""

    def refused(body: str) -> InputError:
        with pytest.raises(InputError) as caught:
            function(cuobjdump(body, "EXIT ;"))
        return caught.value

    return refused
