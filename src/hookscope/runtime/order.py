"""What a worker is asked to load or to run, packed once for all times that it is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from hookscope.core.runs import Code, Registration
from hookscope.runtime.contents import Contents
from hookscope.runtime.declared import OF_A_PLUGIN, code_document
from hookscope.runtime.python_worker.protocol import Message, encode

MOST = 2048  # calls whose orders are kept


@dataclass(frozen=True)
class Order:
    """A handler to be loaded or run, with the names of its content."""

    code: Code
    name: str
    shared: str
    call: Registration | None = None

    def document(self) -> Message:
        """As the protocol's `code`."""
        return code_document(self.code, self.name, self.shared)

    def call_document(self) -> Message:
        """As one of the protocol's `calls`."""
        assert self.call is not None
        document = {"who": self.call.name, "code": self.document(), "env": dict(self.code.env)}
        breakage = self.call.breakage
        if breakage is not None:
            document["fault"] = {"fault": breakage.fault, "amount": breakage.amount}
        return document

    @cached_property
    def of_a_plugin(self) -> bool:
        """Does it belong to a module that has a worker of its own."""
        return self.code.shape in OF_A_PLUGIN

    @cached_property
    def packed(self) -> str:
        """That as JSON."""
        return encode(self.call_document())


class Orders:
    """Makes the orders of calls. One that was made before stays while its content is the same."""

    def __init__(self, contents: Contents, code_of: Callable[[Registration], Code]) -> None:
        self._contents = contents
        self._code_of = code_of
        self._known: dict[int, Order] = {}
        self._lessons = 0  # of the contents, when these were made

    def of(self, call: Registration, shared: str) -> Order:
        """The order of a call as its files are now. `shared` names what hooks share with each other."""
        known, lessons = self._known.get(id(call)), self._contents.lessons
        if (
            known is not None
            and known.call is call
            and known.code.digest  # it was read before: no file is looked at
            and known.shared == shared
            and self._lessons == lessons
        ):
            return known
        if self._lessons != lessons:  # other names, perhaps, for the same contents
            self._known.clear()
            known, self._lessons = None, lessons
        code = self._code_of(call)
        name = self._contents.name(code, shared)
        if known is not None and known.call is call and known.name == name and known.shared == shared:
            return known
        if len(self._known) >= MOST:
            self._known.clear()
        order = self._known[id(call)] = Order(
            code, name, shared, call
        )  # it holds its call: the id stays taken
        return order


class Numbers:
    """The numbers under which a worker knows orders: it is told each once. For one worker, from its start."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Order, int]] = {}

    def of(self, orders: Sequence[Order]) -> tuple[str, str]:
        """Their numbers as the protocol's `calls`, and as its `know` what the worker does not know yet."""
        known, numbers, new = self._known, list[str](), list[str]()
        if len(known) + len(orders) > MOST:
            known.clear()  # it begins anew: what has a number twice is what it was told last
        for order in orders:
            found = known.get(id(order))
            if found is None:
                found = known[id(order)] = order, len(known)  # it holds its order: the id stays taken
                new.append(f"[{found[1]},{order.packed}]")
            numbers.append(str(found[1]))
        return ",".join(numbers), ",".join(new)
