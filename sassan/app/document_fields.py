"""What documents say of one function beyond its table: its profile, and where its bounds come from."""

from sassan.app.analysis_fields import AnalysisFields
from sassan.app.builds.profile import ProfileFields
from sassan.app.explain import ExplanationFields, explain
from sassan.app.result import AnalysisResult
from sassan.fields.field import Declare, Record
from sassan.fields.kinds import merged, nullable, one

_of = Declare[AnalysisResult]()


class ProfiledFields(Record[AnalysisResult]):
    """What a baseline holds of one function."""

    _analysis = _of(merged(AnalysisFields), "what is known of the function", lambda result: result)
    profile = _of(one(ProfileFields), "what a baseline holds beside bounds", lambda result: result)


class ExplainedFields(Record[AnalysisResult]):
    """What `sassan analyze` says of one function."""

    _profiled = _of(merged(ProfiledFields), "what a baseline holds", lambda result: result)
    explain = _of(nullable(one(ExplanationFields)), "the parts of the bounds, with `--explain`", explain, optional=True)
