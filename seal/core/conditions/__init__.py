"""What a gold step asks of a message or of the world: plain data with a similarity.

An open set: a condition is a frozen dataclass that subclasses `Condition`; its field `kind`, by
which a record names it, is the class's name in snake_case. Its `similarity(step, reached)` is in
[0, 1]; `reached` maps the positions of earlier milestones to the steps that reached them, -1 to the
first step.

What is asked of a world is imported when it is first named: most pools have none.
"""

from typing import TYPE_CHECKING

from seal.core.conditions.condition import CLEAN as CLEAN
from seal.core.conditions.condition import FIRST as FIRST
from seal.core.conditions.condition import LAST as LAST
from seal.core.conditions.condition import Condition as Condition
from seal.core.conditions.condition import Match as Match
from seal.core.conditions.messages import MESSAGE as MESSAGE
from seal.core.conditions.messages import Argument as Argument
from seal.core.conditions.messages import Asked as Asked
from seal.core.conditions.messages import Called as Called
from seal.core.conditions.messages import Refused as Refused
from seal.core.conditions.messages import Replied as Replied
from seal.core.conditions.messages import Told as Told
from seal.core.conditions.messages import message_row as message_row
from seal.core.conditions.messages import parts as parts
from seal.core.conditions.messages import party as party
from seal.lazy import give_names

if TYPE_CHECKING:
    from seal.core.conditions.cells import Column as Column
    from seal.core.conditions.chat import Unconfirmed as Unconfirmed
    from seal.core.conditions.chat import Untrue as Untrue
    from seal.core.conditions.state import EXTRACTORS as EXTRACTORS
    from seal.core.conditions.state import AllOf as AllOf
    from seal.core.conditions.state import DependsOn as DependsOn
    from seal.core.conditions.state import StateHas as StateHas
    from seal.core.conditions.state import StateUnchanged as StateUnchanged


give_names(__name__)
