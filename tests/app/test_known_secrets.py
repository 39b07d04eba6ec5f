"""Which values a workbench knows as secret before anything is fired."""

import json
from pathlib import Path

import pytest

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.model.failure import Refusal
from hookscope.storage.journal.secrets import SecretKeys, is_secret_key


def redacted(workspace: Path, value: object, **options: object) -> object:
    bench = Workbench(Options(workspace=workspace, dialect="openclaw", **options))  # type: ignore[arg-type]
    return bench.redaction.masked_value(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MY_API_KEY", "correct-horse-battery-77"),
        ("SIGNING_KEY", "plain words of it"),
        ("DB_PASS", "hunter2"),
        ("NPM_AUTH", "some-auth-value"),
        ("TOKEN_STAGING", "staging-token"),
        ("SENTRY_DSN", "https://abc@sentry.example/1"),
        ("GITHUB_CREDENTIALS", "me:mine"),
        ("ORDINARY", "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a"),
        ("OTHER", "-----BEGIN " + "EC PRIVATE KEY-----\nMHcCAQEEIA\n-----END " + "EC PRIVATE KEY-----"),
    ],
    ids=["api_key", "key", "pass", "auth", "token", "dsn", "credentials", "github", "pem"],
)
def test_variable_is_secret_by_name_or_value(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    masked = redacted(workspace, {"said": f"it is {value}."})
    assert masked == {"said": f"it is ${{SECRET:{name}}}."}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEPLOY_DIR", "/srv/deploy/of/ours"),
        ("PORT", "8080"),
        ("AWS_REGION", "eu-central-1"),
        ("SSH_AUTH_SOCK", "/tmp/agent.sock"),
        ("TOKEN_URL", "https://example.org/token"),
        ("MAX_TOKENS", "4096"),
        ("SECRET_NAME", "the-name-of-it"),
        ("PUBLIC_KEY", "ssh-ed25519-of-all"),
        ("API_KEY", "true"),
        ("PASSWORD", "localhost"),
        ("KEY_FILE", "keys.pem.of.ours"),
        ("TOKEN_TTL_SECRET_COUNT", "123456789"),
        ("SERVICE_CREDENTIALS", "/etc/hostname"),
    ],
)
def test_an_ordinary_variable_stays_readable(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    said = {"said": f"it is {value}."}
    assert redacted(workspace, said) == said


def test_password_equal_to_the_user_name_is_not_masked(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USER", "ada")
    monkeypatch.setenv("LOGIN_NAME", "lovelace")
    monkeypatch.setenv("DB_PASSWORD", "lovelace")
    assert redacted(workspace, {"said": "lovelace was here"}) == {"said": "lovelace was here"}


def test_secrets_in_json_variables_are_masked(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    value = json.dumps({"user": "svc-of-ours", "password": "json-inner-pass", "type": "service_account"})
    monkeypatch.setenv("GOOGLE_CREDENTIALS", value)
    masked = redacted(workspace, ["svc-of-ours", "x json-inner-pass y", '"type": "service_account"', value])
    assert masked == [
        "svc-of-ours",
        "x ${SECRET:GOOGLE_CREDENTIALS_PASSWORD} y",
        '"type": "service_account"',
        "${SECRET:GOOGLE_CREDENTIALS}",
    ]


def test_settings_env_files_and_options_are_known(workspace: Path, home: Path) -> None:
    (home / ".openclaw").mkdir()
    settings = {
        "gateway": {"auth": {"token": "gateway-token-value"}},
        "hooks": {"internal": {"entries": {"a": {"env": {"X_PASSWORD": "entry-value", "X_DIR": "/srv/x"}}}}},
    }
    (home / ".openclaw/openclaw.json").write_text(json.dumps(settings))
    (workspace / ".env").write_text("DOTENV_TOKEN=from-dotenv\nDOTENV_DIR=/srv/dotenv\n")
    (workspace / ".hookscope/environments").mkdir(parents=True)
    (workspace / ".hookscope/environments/ci.yaml").write_text("variables: {CI_SECRET: from-environment}\n")
    said = "gateway-token-value entry-value /srv/x from-dotenv /srv/dotenv from-environment from-option"
    masked = redacted(workspace, {"said": said}, env={"OPTION_KEY": "from-option"}, environment="ci")
    assert masked == {
        "said": "${SECRET:CFG_GATEWAY_AUTH_TOKEN} "
        "${SECRET:CFG_HOOKS_INTERNAL_ENTRIES_A_ENV_X_PASSWORD} /srv/x "
        "${SECRET:DOTENV_TOKEN} /srv/dotenv ${SECRET:CI_SECRET} ${SECRET:OPTION_KEY}"
    }


@pytest.mark.parametrize("where", ["project", "user"])
@pytest.mark.parametrize("listed", ["[CUSTOMER_ID]", "[customer-id, other]", "customer*", "[a.b.customerId]"])
def test_listed_names_are_masked_in_variables_and_structures(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, listed: str
) -> None:
    folder = workspace / ".hookscope" if where == "project" else tmp_path / "config"
    folder.mkdir()
    (folder / "config.yaml").write_text(f"mask: {listed}\n")
    monkeypatch.setenv("CUSTOMER_ID", "blue whales")
    document = {
        "said": "for blue whales",
        "customerId": "c1",
        "fields": [["Customer-Id", "c-22-33"]],
        "name": "ada",
    }
    masked = redacted(workspace, document)
    assert masked == {
        "said": "for ${SECRET:CUSTOMER_ID}",
        "customerId": "${SECRET:CUSTOMER_ID_2}",
        "fields": [["Customer-Id", "${SECRET:FIELDS_0_CUSTOMER_ID}"]],
        "name": "ada",
    }


@pytest.mark.parametrize("listed", ["{a: 1}", "[1, 2]", "7", "['']"])
def test_invalid_list_of_masked_names_is_refused(workspace: Path, listed: str) -> None:
    (workspace / ".hookscope").mkdir()
    (workspace / ".hookscope/config.yaml").write_text(f"mask: {listed}\n")
    with pytest.raises(Refusal, match="needs a list of names"):
        Workbench(Options(workspace=workspace))


SECRET = "correct-horse-battery-77"


@pytest.mark.parametrize(
    "value",
    [
        ["Authorization", SECRET],
        {"headers": [["Content-Type", "text/plain"], ["X-Api-Key", SECRET]]},
        {"rawHeaders": ["Host", "x.example", "Cookie", SECRET]},
        {"headers": [{"name": "Authorization", "value": SECRET}]},
        {"env": [{"key": "DB_PASSWORD", "value": SECRET}]},
        {"variables": [{"variable": "SIGNING_KEY", "value": SECRET}]},
        {"argv": ["tool", "--api-key", SECRET, "run"]},
        {"patches": [{"op": "add", "path": "/auth/apiKey", "value": SECRET}]},
        {"patches": [{"op": "replace", "path": "/a/clientSecret/deep/0", "value": {"x": [SECRET]}}]},
        {"cookies": {"sid": {"value": [SECRET]}}},
        {"text": f"MY_API_KEY={SECRET}"},
        {"text": f"Cookie: sid={SECRET}; a=b"},
    ],
)
def test_secret_keys_of_structures_are_masked(workspace: Path, value: object) -> None:
    assert SECRET not in json.dumps(redacted(workspace, value))
    # What is found in one place is masked in all others.
    assert SECRET not in json.dumps(redacted(workspace, [value, f"and {SECRET} again"]))


@pytest.mark.parametrize(
    "value",
    [
        ["token", "count"],
        {"required": ["password", "username", "email", "address"]},
        {"fields": [{"name": "region", "value": "eu-central-1"}]},
        {"patches": [{"op": "add", "path": "/history/0", "value": "hello there"}]},
        {"argv": ["tool", "--verbose", "run-it-now"]},
        {"maxTokens": 4096, "tokenCount": 12345678},
    ],
)
def test_ordinary_structures_are_unchanged(workspace: Path, value: object) -> None:
    assert redacted(workspace, value) == value


NAMES = "SIGNING_KEY DB_PASS NPM_AUTH SENTRY_DSN TOKEN_OF_CI userPwd"
OTHERS = "PRIMARY_KEY KEY TOKEN_FILE AUTH_URL SECRET_ID compass bypass"


@pytest.mark.parametrize("key", NAMES.split())
def test_keys_of_variables_are_secret(key: str) -> None:
    assert is_secret_key(key)


@pytest.mark.parametrize("key", OTHERS.split())
def test_similar_ordinary_keys_are_not_secret(key: str) -> None:
    assert not is_secret_key(key)
    assert not SecretKeys.with_names(["other"]).names_secret(key)


@pytest.mark.parametrize("name", ["GOOGLE_CREDENTIALS", "SERVICE_SETUP"])
def test_secrets_in_nested_json_texts_are_masked(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    inner = json.dumps({"user": "svc-of-ours", "password": "deep inner pass"})
    monkeypatch.setenv(name, json.dumps({"outer": json.dumps([inner])}))
    masked = redacted(workspace, ["svc-of-ours", "x deep inner pass y"])
    assert masked == ["svc-of-ours", f"x ${{SECRET:{name}_OUTER_0_PASSWORD}} y"]


def test_secrets_in_json_texts_of_events_are_masked(workspace: Path) -> None:
    body = json.dumps({"login": {"password": "of a body"}, "port": 8080})
    masked = redacted(workspace, {"body": body, "said": "it is of a body"})
    assert masked == {
        "body": body.replace("of a body", "${SECRET:BODY_LOGIN_PASSWORD}"),
        "said": "it is ${SECRET:BODY_LOGIN_PASSWORD}",
    }
