"""Registration of plugin handlers while the program runs; the next event calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, overload

from hookscope.embedding.library import log, process_engine
from hookscope.embedding.plugin_types import (
    AgentStartAnswer,
    MessageWriteAnswer,
    MessageWriteEvent,
    OutgoingMessageAnswer,
    OutgoingMessageEvent,
    PluginHandler,
    PromptAnswer,
    PromptEvent,
    ToolCallAnswer,
    ToolCallEvent,
    ToolResultAnswer,
    ToolResultEvent,
)
from hookscope.engine.argument_checks import NONE_TYPE, expect, expect_key, expect_mapping
from hookscope.engine.hook_engine import HookEngine
from hookscope.engine.planning import INTERNAL_OPTION
from hookscope.model import authoring_api
from hookscope.model.authoring_api import Declaration
from hookscope.model.handler_arguments import Handler, adapted
from hookscope.model.run import Registration


class AgentContext(TypedDict, total=False):
    """The context of `before_agent_start`, `before_prompt_build`, compactions and model calls."""

    runId: str
    config: Mapping[str, Any]
    workspaceDir: str
    agentDir: str


class MessageContext(TypedDict, total=False):
    """The context of `message_received`, `message_sending` and `message_sent`."""

    sessionKey: str
    channel: str
    senderId: str
    direction: Literal["received", "sending", "sent"]


class ToolContext(TypedDict, total=False):
    """The context of `before_tool_call`, `after_tool_call` and `tool_result_persist`."""

    runId: str
    toolName: str
    args: Mapping[str, Any]  # before the call
    result: Any  # after it


class SessionContext(TypedDict, total=False):
    """The context of `session_start`, `session_end` and `before_message_write`."""

    sessionKey: str
    channel: str


H = TypeVar("H", bound=Handler)
ToolCallH = TypeVar("ToolCallH", bound=PluginHandler[ToolCallEvent, ToolCallAnswer])
ToolResultH = TypeVar("ToolResultH", bound=PluginHandler[ToolResultEvent, ToolResultAnswer])
OutgoingH = TypeVar("OutgoingH", bound=PluginHandler[OutgoingMessageEvent, OutgoingMessageAnswer])
WriteH = TypeVar("WriteH", bound=PluginHandler[MessageWriteEvent, MessageWriteAnswer])
PromptH = TypeVar("PromptH", bound=PluginHandler[PromptEvent, PromptAnswer])
StartH = TypeVar("StartH", bound=PluginHandler[PromptEvent, AgentStartAnswer])


class PluginApi(authoring_api.RecordingPluginApi):
    """The `api` of the guides, for a plugin that is part of this program.

    `api.register_hook({"event": "message-sent", "handler": fn, "priority": 100})`, the same as
    keywords, or `api.on("before_tool_call", fn, priority=10)`; `on` is a decorator too. Handlers
    take `(event, ctx)` or `(event)`, sync or async. The dialect decides which priority goes first.

    An unknown event name causes a warning with the closest match. The guides do not define its
    effect, so there the handler receives events fired under that name. A shipped host ignores it.
    Registrations outlive `load_hooks`; `clear_hooks` and `close_hooks` remove them.

    Source: seeds 003 ("Hook Registration") and 004 (section 8); rules note 6.
    """

    def __init__(
        self,
        id: str = "plugin",  # noqa: A002  (the host's name)
        config: Mapping[str, Any] | None = None,
        *,
        engine: HookEngine | None = None,
    ) -> None:
        """`id` appears in logs and results; `engine` defaults to the process's own.

        Raises TypeError for an argument of another type.
        """
        expect(id, str, "the id of a plugin must be a string")
        expect_mapping(config, "the config of a plugin")
        expect(engine, (HookEngine, NONE_TYPE), "engine must be a HookEngine")
        super().__init__(id, config, told=self._add_declaration)
        self._engine = engine
        self._registrations: list[tuple[Declaration, Registration]] = []

    if TYPE_CHECKING:  # a known hook's decorator takes its own handlers only

        @overload  # type: ignore[override]  # it refuses handlers that the supertype takes
        def on(
            self, name: Literal["before_tool_call"], **options: Any
        ) -> Callable[[ToolCallH], ToolCallH]: ...
        @overload
        def on(
            self, name: Literal["tool_result_persist"], **options: Any
        ) -> Callable[[ToolResultH], ToolResultH]: ...
        @overload
        def on(
            self, name: Literal["message_sending"], **options: Any
        ) -> Callable[[OutgoingH], OutgoingH]: ...
        @overload
        def on(self, name: Literal["before_message_write"], **options: Any) -> Callable[[WriteH], WriteH]: ...
        @overload
        def on(
            self, name: Literal["before_prompt_build"], **options: Any
        ) -> Callable[[PromptH], PromptH]: ...
        @overload
        def on(self, name: Literal["before_agent_start"], **options: Any) -> Callable[[StartH], StartH]: ...
        @overload
        def on(self, name: str, handler: None = None, **options: Any) -> Callable[[H], H]: ...
        @overload
        def on(self, name: str, handler: H, **options: Any) -> H: ...
        def on(self, name: str, handler: Handler | None = None, **options: Any) -> Any: ...

    def unregister(self, name: str, handler: Handler | None = None) -> bool:
        """Remove the last registration of `handler` under `name`, or all of that name.

        Returns False if there was none. A run in progress still calls it. Raises TypeError for a
        name that is not text, ValueError for an empty one.
        """
        expect_key(name, "before_tool_call")
        engine = self._current_engine()
        key = engine.host.dialect.catalogue().canonical(name)
        found = [
            (declaration, call)
            for declaration, call in self._registrations
            if call.key == key and handler in (None, declaration.handler)
        ]
        for pair in found if handler is None else found[-1:]:
            self._registrations.remove(pair)
            self.declared.remove(pair[0])
            engine.remove(pair[1])
        return bool(found)

    def unregister_all(self) -> None:
        """Remove all registrations of this api."""
        for _, call in self._registrations:
            self._current_engine().remove(call)
        self._registrations.clear()
        self.declared.clear()

    def replace_older(self) -> None:
        """Remove registrations of another api with this id: the plugin was loaded again."""
        own = {call for _, call in self._registrations}
        for call in self._current_engine().permanent_registrations:
            if call.name == self.id and call not in own:
                self._current_engine().remove(call)

    def _current_engine(self) -> HookEngine:
        return self._engine if self._engine is not None else process_engine()

    def _add_declaration(self, declaration: Declaration) -> None:
        engine = self._current_engine()
        catalogue = engine.host.dialect.catalogue()
        crosses = (
            engine.host.dialect.load_rules.plugins_use_folder_events
            and declaration.options.get(INTERNAL_OPTION) is True
        )
        key = declaration.key if crosses else catalogue.canonical(declaration.key)
        known = catalogue.by_key.get(key)
        if not crosses and (known is None or known.kind != "plugin"):
            ignored = bool(
                engine.host.dialect.version
            )  # as shipped: rules note 6, "Unknown names are ignored"
            _warn_about(declaration.key, self.id, engine, ignored=ignored)
            if ignored:
                return
        call = engine.register(
            key,
            adapted(declaration.handler),
            self.id,
            priority=declaration.priority,
            limit=declaration.limit,
            options=declaration.options,
            permanent=True,
        )
        self._registrations.append((declaration, call))


def _warn_about(name: str, plugin: str, engine: HookEngine, *, ignored: bool) -> None:
    product = engine.host.dialect.product
    closest = engine.host.dialect.catalogue().nearest(name.replace("-", "_"), "plugin")
    suggestion = f"; did you mean {closest}?" if closest else ""
    consequence = "it is ignored" if ignored else f"{product} never sends it"
    log.warning(
        "Plugin %s: %s has no plugin hook %r, so %s%s", plugin, product, name, consequence, suggestion
    )
