"""The vocabulary and the rules that every other part shares.

The project's own code imports records, interfaces and errors from here, everything else from its
module.
"""

from seal.core.errors import BudgetError as BudgetError
from seal.core.errors import CacheMissError as CacheMissError
from seal.core.errors import CodeRefusedError as CodeRefusedError
from seal.core.errors import DataError as DataError
from seal.core.errors import InfrastructureError as InfrastructureError
from seal.core.errors import MissingExtraError as MissingExtraError
from seal.core.errors import ModelError as ModelError
from seal.core.errors import NotRecordedError as NotRecordedError
from seal.core.errors import NoVerdictError as NoVerdictError
from seal.core.errors import OptionError as OptionError
from seal.core.errors import OutageError as OutageError
from seal.core.errors import OverdueError as OverdueError
from seal.core.errors import RequestError as RequestError
from seal.core.errors import SealError as SealError
from seal.core.errors import SimulatorError as SimulatorError
from seal.core.errors import UnknownKeyError as UnknownKeyError
from seal.core.errors import UnknownNameError as UnknownNameError
from seal.core.errors import UsageError as UsageError
from seal.core.errors import check_name as check_name
from seal.core.errors import fault as fault
from seal.core.errors import first_fault as first_fault
from seal.core.errors import located as located
from seal.core.errors import nearest as nearest
from seal.core.errors import needing as needing
from seal.core.errors import shortened as shortened
from seal.core.protocols import Agent as Agent
from seal.core.protocols import CacheMode as CacheMode
from seal.core.protocols import Chat as Chat
from seal.core.protocols import ChatModel as ChatModel
from seal.core.protocols import Completion as Completion
from seal.core.protocols import Judge as Judge
from seal.core.protocols import Lookup as Lookup
from seal.core.protocols import Message as Message
from seal.core.protocols import Metric as Metric
from seal.core.protocols import OpenedPerChat as OpenedPerChat
from seal.core.protocols import Pool as Pool
from seal.core.protocols import Reply as Reply
from seal.core.protocols import Request as Request
from seal.core.protocols import Response as Response
from seal.core.protocols import Retriever as Retriever
from seal.core.protocols import Simulator as Simulator
from seal.core.records import write_records as write_records
from seal.core.types import CHAT_TOOLS as CHAT_TOOLS
from seal.core.types import END_CONVERSATION as END_CONVERSATION
from seal.core.types import FIND_TOOLS as FIND_TOOLS
from seal.core.types import JSON as JSON
from seal.core.types import NOT_RECORDED as NOT_RECORDED
from seal.core.types import Execution as Execution
from seal.core.types import Goal as Goal
from seal.core.types import Milestone as Milestone
from seal.core.types import Plan as Plan
from seal.core.types import Query as Query
from seal.core.types import Ranking as Ranking
from seal.core.types import Scale as Scale
from seal.core.types import Score as Score
from seal.core.types import Step as Step
from seal.core.types import Stop as Stop
from seal.core.types import StopReason as StopReason
from seal.core.types import Tables as Tables
from seal.core.types import Task as Task
from seal.core.types import Tool as Tool
from seal.core.types import ToolCall as ToolCall
from seal.core.types import ToolResult as ToolResult
from seal.core.types import Trajectory as Trajectory
from seal.core.types import Unrecorded as Unrecorded
from seal.core.types import Usage as Usage
from seal.core.types import Verdict as Verdict
from seal.lazy import give_names

give_names(__name__)
