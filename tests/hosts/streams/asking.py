"""A lane of this process whose results say what a handler asked its host for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hookscope.model.payload import requests_in
from hookscope.model.run import OnStep, Registration, Result, Step
from hookscope.runtime.in_process_executor import InProcessExecutor


class AskingLane(InProcessExecutor):
    """Calls functions of the view, each alone, and tells what each of them added to `asked`."""

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        """See Lane.run."""
        for call in batch:
            before = len(requests_in(view))

            def told(news: Step, before: int = before) -> None:
                if isinstance(news, Result) and not news.asked:
                    news = replace(news, asked=requests_in(view)[before:])
                step(news)

            await super().run((call,), view, told)
