"""The JSON document that a command prints."""

import json
from collections.abc import Mapping, Sequence

from sassan.app import documents
from sassan.app.inputs import RefusedInput
from sassan.cli.output.terminal import out
from sassan.fields import field as fields


def show(functions: Sequence[Mapping[str, object]], refused: Sequence[RefusedInput], **more: object) -> None:
    """Print the document of a command, with its further keys; files that were refused are listed under `errors`."""
    out(text(functions, refused, **more))


def text(functions: Sequence[Mapping[str, object]], refused: Sequence[RefusedInput], **more: object) -> str:
    """Return the document of a command as text."""
    document: dict[str, object] = {**documents.tool(), **more, "functions": list(functions)}
    if refused:
        document["errors"] = [fields.document(documents.RefusedFields, refusal) for refusal in refused]
    return json.dumps(document, indent=2) + "\n"
