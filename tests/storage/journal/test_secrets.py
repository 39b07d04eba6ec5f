"""Secrets. Those written here are made up, and put together from parts so that no scanner minds."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookscope.model.failure import Failure, Frame
from hookscope.model.run import Ending, Event, FileChange, NotRun, Registration, Result, Run, SandboxResult
from hookscope.storage.journal.journal import Journal
from hookscope.storage.journal.redaction import Masker
from hookscope.storage.journal.secrets import Secret, is_secret_key, secrets_in

HEX40 = "3f786850e387550fdab836ed7e6dc881de23001b"
RANDOM = "q7Xp2LmZ9vBt4KsW8cYr1NfHj6GdE3Ua5To0"
SECRET_KEYS = """
    token accessToken access_token X-Auth-Token TELEGRAM_BOT_TOKEN secret client_secret password userPassword
    DB_PASSWORD_2 passwd api_key apiKey API-KEY OPENAI_API_KEY apikey authorization Proxy-Authorization cookie
    Set-Cookie cookies credential credentials private_key privateKey secretAccessKey accesstoken cookieHeader
    tokens
"""
OTHER_KEYS = """
    sessionKey session_key hookKey key keys name tokenCount token_type tokenizer secretary passwordless
    cookieConsent author authorizationUrl publicKey primary_key commit path senderId accessKeyId monkey
    keyboard api apiUrl 42 continuationToken continuation_token
"""
LOOKS_SECRET = {
    "openai": "sk" + "-proj-a1B2c3D4e5F6g7H8i9J0",
    "stripe": "sk" + "_live_51H8xQ2eZvKYlo2C0aBcDeF",
    "github": "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a",
    "github fine": "github" + "_pat_11ABCDEFG0abcdefghij_KLMNOP",
    "gitlab": "glpat" + "-a1b2c3d4e5f6g7h8i9j0",
    "slack": "xoxb" + "-123456789012-abcdefABCDEF",
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "google": "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "telegram": "123456789" + ":AAE1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27u",
    "key": "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
    "random": RANDOM,
}


@pytest.mark.parametrize("key", SECRET_KEYS.split())
def test_secret_keys_are_recognised_in_any_style(key: str) -> None:
    assert is_secret_key(key)


@pytest.mark.parametrize("key", ["", "–", *OTHER_KEYS.split()])
def test_similar_keys_are_not_secret(key: str) -> None:
    assert not is_secret_key(key)


@pytest.mark.parametrize("value", LOOKS_SECRET.values(), ids=LOOKS_SECRET)
@pytest.mark.parametrize("around", ["{}", "use {} here", '"{}"', "x={}\n"])
def test_secret_patterns_are_masked_everywhere(value: str, around: str) -> None:
    text = around.format(value)
    veil = Masker.for_secrets(secrets_in({"note": text}))
    assert value not in veil.masked_text(text)
    assert veil.masked_text(text) == around.format("${SECRET:NOTE}")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abc123def456", "Authorization: Bearer ${SECRET:AUTHORIZATION}"),
        ("Basic dXNlcjpwYXNzd29yZDE=", "Basic ${SECRET:AUTHORIZATION}"),
        ("postgres://me:hunter2@db/x", "postgres://me:${SECRET:URL_PASSWORD}@db/x"),
        ("--api-key=abc12345 now", "--api-key=${SECRET:API_KEY} now"),
        ('{"token": "abc12345"}', '{"token": "${SECRET:TOKEN}"}'),
        ("DB_PASSWORD=hunter22;", "DB_PASSWORD=${SECRET:DB_PASSWORD};"),
    ],
)
def test_masking_a_text_removes_only_the_secret(text: str, masked: str) -> None:
    assert Masker.for_secrets(secrets_in(text)).masked_text(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "The password is required; see the token documentation.",
        "a bearer of bad news, Bearer authentication, Basic configuration",
        f"commit {HEX40}",
        "550e8400-e29b-41d4-a716-446655440000",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "/home/Anna/Projects/agent2/hooks/session-memory/handler.py",
        "test_a_Handler_that_fails_in_its_own_Thread_2_is_a_Result_like_any_other",
        "sk-learn-is-a-library-for-estimators",
        "sha256-" + "a" * 20 + "B1c2D3e4F5g6H7i8J9k0L1m2N3",
        "agent:main:telegram:123456789",
        "session-2026-11-20T13-17-48-AgentMain-backup",
        "https://example.org:8080/a/b?page=2&key=name",
        "password = self.password; token: str = get_token()",
        "${API_TOKEN} and ${SECRET:TOKEN}",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "AKIA, ghp_ and eyJ are prefixes",
        "AKIA" + "ISTHEBEGINNINGOFAWORD",
    ],
)
def test_ordinary_text_is_not_masked(text: str) -> None:
    assert list(secrets_in({"text": text, "commit": text})) == []


def test_secret_keys_mask_texts_and_numbers_but_not_booleans_counts_or_references() -> None:
    context = {
        "password": 12345678,
        "cookies": {"sid": "abc", "fresh": True},
        "maxTokens": 4096,
        "token": "${TELEGRAM}",
        "secret": "",
        "apiKey": None,
        "authorization": "***",
    }
    veil = Masker.for_secrets(secrets_in(context))
    assert veil.masked_value(context) == {
        **context,
        "password": "${SECRET:PASSWORD}",
        "cookies": {"sid": "${SECRET:COOKIES_SID}", "fresh": True},
    }


def test_masks_are_named_after_the_path_and_unique() -> None:
    context = {
        "cfg": {"channels": [{"botToken": "first-one"}]},
        "a": {"token": "second-one"},
        "a_token": "third-one",
        "again": {"secret": "first-one"},
    }
    assert [secret.name for secret in Masker.for_secrets(secrets_in(context)).secrets] == [
        "CFG_CHANNELS_0_BOT_TOKEN",
        "A_TOKEN",
        "A_TOKEN_2",
    ]


def test_a_key_that_is_a_secret_is_not_used_as_a_name() -> None:
    for key in LOOKS_SECRET.values():
        context = {key: {"token": "correct horse"}}
        veil = Masker.for_secrets(secrets_in(context))
        assert [secret.name for secret in veil.secrets][-1] == "TOKEN"
        assert key not in json.dumps(veil.masked_value(context))


def test_the_credential_of_an_authorization_header_is_masked_elsewhere() -> None:
    veil = Masker.for_secrets(secrets_in({"authorization": "Bearer abc123def456"}))
    assert veil.masked_text("sent Bearer abc123def456") == "sent ${SECRET:AUTHORIZATION}"
    assert veil.masked_text("got abc123def456 back") == "got ${SECRET:AUTHORIZATION_2} back"


@pytest.mark.parametrize("key", ["id", "messageId", "commit", "sha256", "content_hash", "integrity"])
def test_a_long_identifier_is_not_a_secret(key: str) -> None:
    assert list(secrets_in({key: RANDOM})) == []
    assert list(secrets_in({"note": RANDOM})) == [Secret("NOTE", RANDOM)]


async def test_a_running_run_reports_what_was_masked(journal: Journal) -> None:
    run = journal.run(await journal.begin(Event("command", context={"token": "correct horse"})))
    assert run is not None
    assert run.document["masked"] == ["TOKEN"]


def test_a_short_secret_is_masked_only_as_a_whole_word() -> None:
    veil = Masker.for_secrets([Secret("TOKEN", "test"), Secret("PIN", "12")])
    assert veil.masked_text("test latest 12") == "${SECRET:TOKEN} latest 12"


def test_a_secret_is_masked_in_its_printed_form() -> None:
    value = 'pa"ss\\wörd\n1'
    veil = Masker.for_secrets([Secret("PASSWORD", value)])
    for printed in (value, json.dumps(value), json.dumps(value, ensure_ascii=False), repr(value)):
        assert veil.masked_text(printed).strip("\"'") == "${SECRET:PASSWORD}"


def test_a_secret_does_not_show_in_its_own_repr() -> None:
    veil = Masker.for_secrets([Secret("TOKEN", "hunter2hunter2")])
    assert "hunter2" not in repr(veil)


@settings(deadline=None)
@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8).filter(
        lambda text: any(map(str.isalnum, text)) and "${" not in text and text not in "${SECRET:TOKEN}"
    )
)
def test_a_secret_of_the_event_is_masked_in_every_text(value: str) -> None:
    context = {"token": value, "said": f"it is {value}, or so"}
    masked = Masker.for_secrets(secrets_in(context)).masked_value(context)
    assert masked["token"] == "${SECRET:TOKEN}"
    assert value not in masked["said"]


def everywhere(run_id: int, event: Event, text: str) -> Run:
    """A run that says `text` wherever a run can say anything."""
    result = Result(
        Registration("command:new", "leaky", print),
        "error",
        messages=(text,),
        returned={"got": [text], text: 1},
        stdout=f"out {text}",
        stderr=f"err {text}",
        error=Failure("ValueError", text, (Frame("handler.py", 1, "handler", f"x = '{text}'"),)),
        patch=({"op": "add", "path": "/context/newSecret", "value": text},),
        notes=(text,),
        stale=Failure("SyntaxError", text, (Frame("handler.py", 1, "", text),)),
        asked=(text,),
    )
    change = FileChange(Path("/w/.env"), "changed", 1, 2, f"+KEY={text}")
    caused = Run(0, event, (result,), (), Ending())
    return Run(
        run_id,
        event,
        (result,),
        (NotRun("other", text),),
        Ending({"answer": text}, text, (Event("again", context={"x": text}),), verdict=f"blocked: {text}"),
        messages=(text,),
        context={"kept": text},
        caused=(caused,),
        notes=(text,),
        guarded=SandboxResult(text, True, True, (change,), 0, (text,)),
    )


@pytest.mark.parametrize("secret", ["hunter2-is-mine", *LOOKS_SECRET.values()])
async def test_no_journal_file_contains_a_secret(journal: Journal, path: Path, secret: str) -> None:
    context = {"cfg": {"apiKey": secret}, "said": secret}
    event = Event("command", "new", f"s:{secret}", context, (secret,), ctx={"auth": [secret]})
    run_id = await journal.begin(event)
    await journal.end(everywhere(run_id, event, secret))
    await journal.note("change", secret, f"password={secret}", detail={"token": secret})
    marks = {secret.encode(), json.dumps(secret)[1:-1].encode()}

    def leaks() -> list[str]:
        files = [(file.name, file.read_bytes()) for file in path.parent.iterdir()]
        assert files
        return [name for name, content in files for mark in marks if mark in content]

    assert leaks() == []  # the write-ahead log is still there
    stored = journal.run(run_id)
    journal.close()
    assert leaks() == []
    assert stored is not None
    assert stored.event.context == {
        "cfg": {"apiKey": "${SECRET:CFG_API_KEY}"},
        "said": "${SECRET:CFG_API_KEY}",
    }
    assert stored.document["masked"] == ["CFG_API_KEY"]


async def test_a_secret_that_a_handler_removed_and_printed_is_masked(
    journal: Journal, path: Path, run_of_id: Callable[..., Run]
) -> None:
    context = {"token": "correct horse"}
    event = Event("command", "new", context=context)
    run_id = await journal.begin(event)
    context.clear()
    await journal.end(everywhere(run_id, event, "correct horse"))
    assert all(b"correct horse" not in file.read_bytes() for file in path.parent.iterdir())


async def test_a_password_equal_to_a_field_name_breaks_nothing(
    journal: Journal, run_of_id: Callable[..., Run]
) -> None:
    event = Event("command", "new", context={"password": "error"})
    await journal.end(run_of_id(await journal.begin(event), status="error", event=event))
    (run,) = journal.recent()
    assert run.document["results"][0]["status"] == "error"


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/context/token", "blue whale"),
        ("/context/cfg/apiKey", {"now": "blue whale"}),
        ("/context/credentials/user/0", ["blue whale"]),
        ("/context/a~1b/clientSecret", "blue whale"),
        ("/context/my~1token", "blue whale"),
        ("/password", "blue whale"),
    ],
)
async def test_a_value_patched_under_a_secret_path_is_masked_everywhere(
    journal: Journal, run_of_id: Callable[..., Run], pointer: str, value: object
) -> None:
    run = run_of_id(await journal.begin(Event("command", "new")))
    change = {"op": "add", "path": pointer, "value": value}
    result = replace(run.results[0], patch=(change,), stdout="it was the blue whale\n")
    await journal.end(replace(run, results=(result,)))
    (stored,) = journal.recent()
    (told,) = stored.document["results"]
    assert "blue whale" not in json.dumps(stored.document)
    assert told["stdout"].startswith("it was the ${SECRET:")
    assert told["patch"][0]["path"] == pointer


@pytest.mark.parametrize("value", ["error", 1234, True])
async def test_a_common_value_is_masked_only_under_its_secret_path(
    journal: Journal, run_of_id: Callable[..., Run], value: object
) -> None:
    run = run_of_id(await journal.begin(Event("command", "new")))
    patch = (
        {"op": "add", "path": "/context/password", "value": value},
        {"op": "add", "path": "/context/count", "value": value},
    )
    await journal.end(replace(run, results=(replace(run.results[0], patch=patch),)))
    (stored,) = journal.recent()
    secret, plain = stored.document["results"][0]["patch"]
    assert secret["value"] == (value if value is True else "${SECRET:PASSWORD}")
    assert plain["value"] == value


async def test_a_secret_of_a_follow_up_event_is_masked_in_later_output(
    journal: Journal, run_of_id: Callable[..., Run]
) -> None:
    run = run_of_id(await journal.begin(Event("command", "new")))
    follow_up = Event("again", context={"password": "blue whale"}, messages=("blue whale",))
    later = replace(run_of_id(0, event=Event("again")), notes=("the blue whale came",))
    run = replace(run, ending=Ending(follow_ups=(follow_up,)), caused=(later,), messages=("blue whale!",))
    await journal.end(run)
    (stored,) = journal.recent()
    assert "blue whale" not in json.dumps(stored.document)
    assert stored.document["follow_ups"][0]["context"] == {"password": "${SECRET:PASSWORD}"}
    assert stored.document["messages"] == ["${SECRET:PASSWORD}!"]


async def test_a_secret_of_a_follow_up_event_is_masked_in_the_causing_run(
    journal: Journal, run_of_id: Callable[..., Run]
) -> None:
    run = run_of_id(await journal.begin(Event("command", "new")))
    caused = run_of_id(0, event=Event("again", context={"password": "blue whale"}))
    await journal.end(replace(run, caused=(caused,), messages=("blue whale!",)))
    (stored,) = journal.recent()
    assert "blue whale" not in json.dumps(stored.document)


def test_masked_text_is_not_masked_again() -> None:
    veil = Masker.for_secrets([Secret("hunter2mine", "hunter2mine"), Secret("KEY", "correct horse")])
    once = veil.masked_text("hunter2mine, then correct horse")
    assert once == "${SECRET:hunter2mine}, then ${SECRET:KEY}"
    assert veil.masked_text(once) == once
    assert (
        veil.masked_text("${SECRET:hunter2mine} hunter2mine") == "${SECRET:hunter2mine} ${SECRET:hunter2mine}"
    )


@pytest.mark.parametrize("number", [123456789012, 1234567.25])
def test_a_long_secret_number_is_masked_everywhere(number: float) -> None:
    value = {"password": number, "also": [number], "count": 12}
    masked = Masker.for_secrets(secrets_in(value)).masked_value(value)
    assert masked == {"password": "${SECRET:PASSWORD}", "also": ["${SECRET:PASSWORD}"], "count": 12}


@pytest.mark.parametrize("key", ["name", "key", "header", "field"])
def test_a_common_word_is_masked_beside_its_secret_name(key: str) -> None:
    value = {"pair": {key: "password", "value": "error"}, "status": "error"}
    masked = Masker.for_secrets(secrets_in(value)).masked_value(value)
    assert masked["pair"]["value"].startswith("${SECRET:")
    assert masked["status"] == "error"


def test_secrets_of_one_name_are_numbered() -> None:
    values = [f"hunter{number}mine" for number in range(4)]
    veil = Masker.for_secrets(Secret("TOKEN", value) for value in (*values, values[0]))
    assert [veil.masked_text(value) for value in values] == [
        "${SECRET:TOKEN}", "${SECRET:TOKEN_2}", "${SECRET:TOKEN_3}", "${SECRET:TOKEN_4}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "pieces", [["it is hunter2", "-is-mine"], ["hunt", "er2-is", "-mine"], ["so: hunter2-is-min", "e!"]]
)
def test_a_secret_printed_in_pieces_is_masked(pieces: list[str]) -> None:
    masked = Masker.for_secrets([Secret("KEY", "hunter2-is-mine")]).masked_value(
        {"messages": [*pieces, "hi"]}
    )["messages"]
    assert len(masked) == len(pieces) + 1
    assert masked[-1] == "hi"
    assert "hunt" not in "".join(masked)
    assert "mine" not in "".join(masked)


@pytest.mark.parametrize(("members", "masked"), [(8, True), (9, False)])
def test_name_and_value_pairs_are_masked_in_small_mappings_only(members: int, masked: bool) -> None:
    more = {f"field{number}": number for number in range(members - 2)}
    value = {"name": "password", "value": "blue whale", **more}
    found = Masker.for_secrets(secrets_in(value)).masked_value(value)
    assert found["value"] == ("${SECRET:PASSWORD}" if masked else "blue whale")


@pytest.mark.parametrize(("number", "sought"), [("12345", False), ("123456", True)])
def test_a_secret_number_is_masked_elsewhere_from_six_digits(number: str, sought: bool) -> None:
    value = {"otp": number, "said": f"code {number}."}
    masked = Masker.for_secrets(secrets_in(value)).masked_value(value)
    assert masked == {"otp": "${SECRET:OTP}", "said": "code ${SECRET:OTP}." if sought else f"code {number}."}


def test_cookie_values_are_masked_elsewhere() -> None:
    value = {"cookie": "sid=abc12345x; theme=dark", "said": "session abc12345x of theme dark"}
    masked = Masker.for_secrets(secrets_in(value)).masked_value(value)
    assert masked["cookie"] == "${SECRET:COOKIE}"
    assert masked["said"] == "session ${SECRET:COOKIE_SID} of theme dark"


@pytest.mark.parametrize(
    ("items", "secret"),
    [
        (["Authorization", "blue-whale"], True),
        (["name", "ada", "password", "blue-whale"], True),
        (["it is", "x", "password", "blue-whale"], False),
        (["name", "password", "blue-whale"], False),
        (["name", "--password", "blue-whale"], True),
    ],
)
def test_secrets_in_lists_of_pairs_are_masked(items: list[str], secret: bool) -> None:
    assert ("blue-whale" in {one.value for one in secrets_in(items)}) is secret
