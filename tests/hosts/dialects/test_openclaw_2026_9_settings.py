"""What OpenClaw 2026.9 refuses in its settings and fills in by itself, through its own command.

Each sentence and each path was told by openclaw 2026.9.6, given the same settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hookscope.hosts.plugins import settings_refusal

if TYPE_CHECKING:
    from tests.hosts.dialects.conftest import Program

OWNERS = (
    'multi-agent rosters require agents.ownership="explicit" or one legacy default=true marker; '
    'add agents.ownership="explicit" or run openclaw doctor'
)
NOBODY = "agents.entries must contain at least one configured agent"
NO_BOOLEAN = "expected boolean, received number (allowed: true, false)"
ODD_LISTS: list[Any] = [
    [{"id": "A b"}], [{"id": "a"}, "b"], [{"id": "a"}] * 2, [{"id": "a", "default": 1}], {},
]  # fmt: skip
TWO: dict[str, Any] = {"a": {}, "b": {"workspace": "~/own"}}


@pytest.mark.parametrize(
    ("settings", "lines"),
    [
        ({"gatway": {}}, ['- <root>: Unrecognized key: "gatway"']),
        (
            {"foo": 1, "bar": 2, "hooks": {"x": 1}},
            ['- hooks: Unrecognized key: "x"', '- <root>: Unrecognized keys: "foo", "bar"'],
        ),
        ({"env": {"TOKEN": "x"}}, ['- env: Unrecognized key: "TOKEN"']),
        ({"plugins": {"hooks": []}}, ['- plugins: Unrecognized key: "hooks"']),
        ({"agents": {"foo": 1}}, ['- agents: Unrecognized key: "foo"']),
        ({"agents": []}, ["- agents: Invalid input: expected object, received array"]),
        ({"agents": {"entries": []}}, ["- agents.entries: Invalid input: expected record, received array"]),
        ({"agents": {"entries": {"a": {}, "b": {}}}}, [f"- agents.ownership: {OWNERS}"]),
        ({"agents": {"list": [{"id": "a"}, {"id": "b"}]}}, [f"- agents.ownership: {OWNERS}"]),
        ({"agents": {"list": [{"id": "a"}], "entries": {"b": {}}}}, ['- agents: Unrecognized key: "list"']),
        *(
            (
                {"agents": {"list": rows}},
                ['- agents: Unrecognized key: "list"', f"- agents.entries: {NOBODY}"],
            )
            for rows in ODD_LISTS
        ),
        ({"agents": {"ownership": "explicit"}}, [f"- agents.entries: {NOBODY}"]),
        ({"agents": {"entries": {"A b": {}}}}, ['- agents.entries["A b"]: Invalid key in record']),
        (
            {"agents": {"entries": {"a": {"zz": 1}, "b": {}}}, "hooks": {"x": 1}, "env": {"x": 1}},
            [
                '- env: Unrecognized key: "x"',
                '- agents.entries.a: Unrecognized key: "zz"',
                f"- agents.ownership: {OWNERS}",
                '- hooks: Unrecognized key: "x"',
            ],
        ),
        (
            {"agents": {"entries": {"a": {"default": True}, "b": {"default": True}}}},
            ["- agents.entries: agents.entries must contain at most one default=true entry (found 2)"],
        ),
        (
            {"hooks": {"internal": {"entries": {"a b": {"enabled": 1}, "1": {"env": {"A": 1}}}}}},
            [
                f'- hooks.internal.entries["a b"].enabled: Invalid input: {NO_BOOLEAN}',
                '- hooks.internal.entries["1"].env.A: Invalid input: expected string, received number',
            ],
        ),
        (
            {"plugins": {"deny": "x", "entries": {"p": {"hooks": {"allowPromptInjection": 1}, "zz": 1}}}},
            [
                "- plugins.deny: Invalid input: expected array, received string",
                f"- plugins.entries.p.hooks.allowPromptInjection: Invalid input: {NO_BOOLEAN}",
                '- plugins.entries.p: Unrecognized key: "zz"',
            ],
        ),
        ({"browser": {"enabled": 1}}, [f"- browser.enabled: Invalid input: {NO_BOOLEAN}"]),
        (
            {"browser": {"foo": 1}, "gateway": {"bar": 2, "port": 1.5}},
            [
                '- browser: Unrecognized key: "foo"',
                "- gateway.port: Invalid input: expected int, received number",
                '- gateway: Unrecognized key: "bar"',
            ],
        ),
        (
            {"gateway": {"port": 70000}, "session": {"reset": {"atHour": -1}}},
            [
                "- session.reset.atHour: Too small: expected number to be >=0 (minimum: 0)",
                "- gateway.port: Too big: expected number to be <=65535 (maximum: 65535)",
            ],
        ),
        (
            {"agents": {"defaults": {"maxConcurrent": 0}}},
            ["- agents.defaults.maxConcurrent: Too small: expected number to be >0 (must be greater than 0)"],
        ),
        (
            {"mcp": {"servers": {"a": {"codex": {"agents": []}}}}},
            ["- mcp.servers.a.codex.agents: Too small: expected array to have >=1 items"],
        ),
        (
            {"agents": {"defaults": {"maxConcurrent": 2**53}}},
            ["- agents.defaults.maxConcurrent: Too big: expected int to be <=9007199254740991"],
        ),
        ({"gateway": None}, ["- gateway: Invalid input: expected object, received null"]),
        (
            {"gateway": {"mode": "x", "auth": {"token": 5}}},
            [
                '- gateway.mode: Invalid input (allowed: "local", "remote")',
                "- gateway.auth.token: Invalid input",
            ],
        ),
        ({"tools": {"codeMode": {"zz": 1}}}, ['- tools.codeMode: Unrecognized key: "zz"']),
        (
            {"channels": {"defaults": {"groupPolicy": "x"}}},
            [
                "- channels.defaults.groupPolicy: "
                'Invalid option: expected one of "open"|"disabled"|"allowlist"'
            ],
        ),
        (
            {"gateway": {"controlUi": {"environment": {"color": "red"}}}},
            ["- gateway.controlUi.environment.label: Invalid input: expected string, received undefined"],
        ),
    ],
)
def test_one_mistake_ends_everything(settings: dict[str, Any], lines: list[str], program: Program) -> None:
    program.hook(".openclaw/hooks/h")
    file = program.settings(None, **settings)
    code, out, errors = program.says("list")
    assert (code, out) == (1, "")
    assert errors[:1] == [f"Invalid config at {file}:"]
    assert errors[1 : len(lines) + 1] == lines


@pytest.mark.parametrize(
    "settings",
    [
        {"$schema": "x", "worktreeRoot": "/w", "surfaces": {}, "hooks": {"token": "t", "path": "/hooks"}},
        {"agents": {"list": [{"id": "a", "default": True}, {"id": "b"}]}},
        {"agents": {"ownership": "explicit", "entries": TWO}},
        {"env": {"vars": {"TOKEN": "x"}, "shellEnv": {"enabled": True}}},
        {"gateway": {"auth": {"token": {"source": "env", "provider": "default", "id": "A_B"}}}},
        {"commands": {"native": "auto"}, "gateway": {"tls": {"anything": 1}, "port": 18789}},
    ],
)
def test_what_it_knows_is_taken(settings: dict[str, Any], program: Program) -> None:
    program.hook(".openclaw/hooks/h")
    program.settings(None, **settings)
    assert list(program.listed()) == ["h"]


@pytest.mark.parametrize(
    ("settings", "path", "met"),
    [
        (None, "agents.defaults.maxConcurrent", True),
        (None, "commands.native", False),
        ({}, "commands.native", True),
        ({"commands": {"restart": False}}, "commands.restart", False),
        ({}, "messages.ackReactionScope", True),
        ({}, "agents.defaults.compaction.mode", True),
        ({}, "agents.defaults.subagents.archiveAfterMinutes", True),
        (
            {"agents": {"defaults": {"subagents": {"archiveAfterMinutes": 0}}}},
            "agents.defaults.subagents",
            True,
        ),
        (
            {"agents": {"defaults": {"subagents": {"archiveAfterMinutes": 0}}}},
            "agents.defaults.subagents.archiveAfterMinutes",
            False,
        ),
        ({}, "agents.entries.main", True),
        ({"agents": {"list": [{"id": "x", "workspace": "~/w"}]}}, "agents.entries.x.workspace", True),
        ({"agents": {"list": [{"id": "x"}]}}, "agents.list", False),
        ({"session": {"mainKey": ""}}, "session.mainKey", True),
        ({}, "session.scope", False),
        ({}, "gateway.port", False),
    ],
)
def test_requirements_see_what_it_fills_in(
    settings: dict[str, Any] | None, path: str, met: bool, program: Program
) -> None:
    program.hook(".openclaw/hooks/h", {"requires": {"config": [path]}})
    if settings is not None:
        program.settings(None, **settings)
    assert program.listed()["h"]["requirementsSatisfied"] is met


@pytest.mark.parametrize(
    ("agents", "agent", "workspace"),
    [
        ({"entries": {"x": {"workspace": "~/own"}}}, None, "own"),
        ({"list": [{"id": "x", "workspace": "~/own"}]}, None, "own"),
        ({"entries": {"x": {}}}, None, ".openclaw/workspace"),
        ({"entries": {"x": {}}, "defaults": {"workspace": "~/all"}}, None, "all"),
        ({"entries": {"a": {}, "B": {"default": True}}, "defaults": {"workspace": "~/all"}}, None, "all"),
        ({"entries": {"a": {}, "b": {"default": True}}, "defaults": {"workspace": "~/all"}}, "a", "all/a"),
        ({"entries": {"a": {}, "b": {"default": True}}}, "a", ".openclaw/workspace-a"),
        (
            {"ownership": "explicit", "entries": TWO, "defaults": {"systemAgent": {"agentId": "b"}}},
            None,
            "own",
        ),
        (
            {"ownership": "explicit", "entries": TWO, "defaults": {"systemAgent": {"agentId": "a"}}},
            None,
            ".openclaw/workspace-a",
        ),
    ],
)
def test_each_agent_has_its_workspace(
    agents: dict[str, Any], agent: str | None, workspace: str, program: Program
) -> None:
    program.settings(None, agents=agents)
    chosen = ("--agent", agent) if agent else ()
    assert program.document(*chosen, "list")["workspaceDir"] == str(program.home / workspace)


def test_a_name_that_is_needed_twice_is_missing_twice_and_an_empty_emoji_is_none(program: Program) -> None:
    program.hook(
        ".openclaw/hooks/h",
        {
            "emoji": "",
            "requires": {"bins": ["no-such", "no-such"]},
            "install": [{"kind": "npm", "label": " A label "}, {"kind": "git", "id": "", "label": " "}],
        },
    )
    hook = program.document("info", "h")
    assert hook["missing"]["bins"] == ["no-such", "no-such"]
    assert "emoji" not in hook
    assert [(way["id"], way["label"]) for way in hook["install"]] == [
        ("npm-0", "A label"),
        ("git-1", "Run installer"),
    ]


NEEDS = {"type": "object", "required": ["key"], "properties": {"key": {"type": "string"}}}


@pytest.mark.parametrize(
    ("manifest", "plugins", "refusal"),
    [
        ({}, None, None),
        ({}, {"entries": {"p": {"enabled": False}}}, "plugins.entries.p: plugin p: {}"),
        ({}, {"deny": ["p"]}, "plugins.deny: plugin p: {}"),
        ({}, {"enabled": False}, None),
        ({}, {"enabled": False, "deny": ["p"]}, "plugins.deny: plugin p: {}"),
        ({"configSchema": NEEDS}, None, None),
        (
            {"configSchema": NEEDS},
            {"entries": {"p": {"enabled": True}}},
            "plugins.entries.p.config.key: invalid config: must have required property 'key'",
        ),
        ({"configSchema": {}}, {"load": {"paths": ["/no/such"]}}, None),
    ],
)
def test_a_plugin_can_make_its_gateway_refuse_the_settings(
    program: Program, manifest: dict[str, Any], plugins: dict[str, Any] | None, refusal: str | None
) -> None:
    program.hook(".openclaw/hooks/h")
    program.plugin(manifest)
    program.settings(None, **({} if plugins is None else {"plugins": plugins}))
    host = program.host()
    expected = refusal and refusal.format("plugin manifest requires configSchema")
    assert settings_refusal(host).splitlines()[1:] == ([f"- {expected}"] if expected else [])
    assert program.says("list")[0] == 0  # the command looks at no plugin
