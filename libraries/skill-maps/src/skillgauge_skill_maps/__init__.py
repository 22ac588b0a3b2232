"""Maps of catalogues of skills: their document, its words, its pictures and its page."""

from .documents import AlikePair, MapDocument, MapPlanDocument, PlannedSessions, QueryRow
from .reading import NAME, documents_in

__all__ = ["NAME", "AlikePair", "MapDocument", "MapPlanDocument", "PlannedSessions", "QueryRow", "documents_in"]
