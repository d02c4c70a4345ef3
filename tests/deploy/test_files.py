"""What is in deploy/ fits the programs: settings, commands, and what the tools of each say.

No container engine and no cluster is at hand where the tests run: nothing here is started.
"""

import configparser
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from cadenza.roots.commands import COMMANDS
from cadenza.roots.settings import PREFIX, Settings, variables_of

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm/cadenza"
BIN = Path(sys.executable).parent
PROGRAMS = {"api", "notifier", "scheduler", "planner", "graph-worker", "up"}
OURS = {"CADENZA_IMAGE"}  # of compose.yaml itself: which image
KUBERNETES = "1.30"
EVERYTHING = {
    "secretKeys.adminKey": "true",
    "secretKeys.listenDatabaseUrl": "true",
    "secretKeys.llmApiKey": "true",
    "settings.ALLOWED_NETWORKS": "10.1.0.0/16",
    "api.autoscaling.enabled": "true",
    "api.ingress.enabled": "true",
    "api.ingress.className": "nginx",
    "api.ingress.tlsSecret": "cadenza-tls",
    "api.settings.TRUSTED_PROXIES": "10.244.0.0/16",
    "workers.graph-worker.enabled": "true",
    "workers.planner.replicas": "2",
    "image.tag": "1.2.3",
}


def run(*words: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, words)), cwd=cwd, capture_output=True, text=True, check=False
    )


def files() -> list[Path]:
    return sorted(path for path in DEPLOY.rglob("*") if path.is_file())


# --- Settings and commands ------------------------------------------------------------------


def test_every_setting_in_deploy_exists() -> None:
    known = {variable for name in Settings.model_fields for variable in variables_of(name)}
    named = {
        variable
        for path in files()
        for variable in re.findall(rf"\b{PREFIX}[A-Z][A-Z_]*[A-Z]\b", path.read_text())
    }
    assert len(named) > 10
    assert named <= known | OURS


def test_every_program_in_deploy_exists() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    named = {each["command"][0] for each in compose["services"].values() if "command" in each}
    named |= set(yaml.safe_load((CHART / "values.yaml").read_text())["workers"]) | {"api"}
    named |= {command.split()[1] for command in unit_commands() if "%i" not in command}
    named.add(
        re.findall(r'^CMD \["([a-z-]+)"', (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)[0]
    )
    assert named == PROGRAMS
    assert named <= set(COMMANDS)


def unit_commands() -> Iterator[str]:
    for path in sorted((DEPLOY / "systemd").iterdir()):
        yield re.findall(r"^ExecStart=(.*)$", path.read_text(), re.MULTILINE)[0]


@pytest.mark.parametrize(
    "words", [("up", "--no-sample"), ("api", "--host", "0.0.0.0", "--port", "8080")]
)
def test_the_options_that_are_given_exist(words: tuple[str, ...]) -> None:
    helped = run(BIN / "cadenza", words[0], "--help").stdout
    assert all(word in helped for word in words[1:] if word.startswith("--"))


# --- Docker ---------------------------------------------------------------------------------


def test_the_dockerfile_is_right_for_hadolint() -> None:
    done = run(BIN / "hadolint", "--failure-threshold", "info", DEPLOY / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_is_made_of_what_is_here() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    paths = {path for line in copied for path in line.split()}
    assert all((ROOT / path).exists() for path in paths)
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    assert {line[1:] for line in ignored if line.startswith("!")} == paths
    extras = re.findall(r"^ARG EXTRAS=(\S+)$", text, re.MULTILINE)[0].split(",")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras) <= set(project["optional-dependencies"])
    assert "USER 10001:10001" in text
    assert "HEALTHCHECK" in text


def test_compose_names_what_it_has_and_gives_every_program_a_probe() -> None:
    """As far as it can be known without an engine: its anchors, references and hardening."""
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert set(compose) == {"name", "x-cadenza", "x-environment", "x-worker-environment",
                            "x-worker-health", "services",
                            "volumes"}  # fmt: skip
    services = compose["services"]
    assert set(services) == PROGRAMS - {"up"} | {"postgres"}
    for name, service in services.items():
        assert service["healthcheck"]["test"]
        for volume in service.get("volumes", []):
            assert volume.split(":")[0] in compose["volumes"]
        for other in service.get("depends_on", {}):
            assert other in services
        if name != "postgres":
            assert service["read_only"] is True
            assert service["cap_drop"] == ["ALL"]
            assert "container_name" not in service  # or it could not be scaled
            assert service["environment"]["CADENZA_DATABASE_URL"]
    published = [port for each in services.values() for port in each.get("ports", [])]
    assert published == ["127.0.0.1:8080:8080"]  # keys do not travel in the open


# --- Kubernetes -----------------------------------------------------------------------------


def rendered(**values: str) -> list[dict[str, Any]]:
    options = [word for pair in values.items() for word in ("--set", "=".join(pair))]
    done = run(BIN / "helm", "template", "mine", CHART, *options)
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def test_the_chart_is_right_for_helm() -> None:
    done = run(BIN / "helm", "lint", "--strict", CHART)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("values", [{}, EVERYTHING], ids=["as it is", "with everything"])
def test_what_it_makes_is_right_for_kubernetes(values: dict[str, str]) -> None:
    documents = rendered(**values)
    for document in documents:
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
    kinds = [document["kind"] for document in documents]
    assert kinds.count("Deployment") == (5 if values else 4)
    assert ("HorizontalPodAutoscaler" in kinds) == ("Ingress" in kinds) == bool(values)
    assert kinds.count("PodDisruptionBudget") == (3 if values else 2)


def test_a_mistake_in_a_document_would_be_seen() -> None:
    (deployment, *_) = [each for each in rendered() if each["kind"] == "Deployment"]
    deployment["spec"]["template"]["spec"]["containers"][0]["livenesProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, KUBERNETES, strict=True)


def test_every_pod_is_confined_probed_and_has_no_secret_in_it() -> None:
    known = {variable for name in Settings.model_fields for variable in variables_of(name)}
    for document in rendered(**EVERYTHING):
        if document["kind"] != "Deployment":
            continue
        pod = document["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["automountServiceAccountToken"] is False
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container["args"][0] in PROGRAMS
        assert {"livenessProbe", "startupProbe"} <= set(container)
        assert container["resources"]["requests"]
        variables = {each["name"]: each for each in container["env"]}
        assert len(variables) == len(container["env"])  # none twice
        assert set(variables) <= known
        for name in ("DATABASE_URL", "MASTER_KEY", "ADMIN_KEY", "LLM_API_KEY"):
            assert "secretKeyRef" in variables[f"{PREFIX}{name}"]["valueFrom"]


# --- systemd --------------------------------------------------------------------------------


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """As they would be installed, with the program where it is here."""
    for path in (DEPLOY / "systemd").iterdir():
        text = path.read_text().replace("/opt/cadenza/bin/cadenza", str(BIN / "cadenza"))
        (tmp_path / path.name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("unit", ["cadenza.service", "cadenza@scheduler.service"])
def test_the_units_are_right_for_systemd(units: Path, unit: str) -> None:
    if unit != "cadenza.service":
        shutil.copy(units / "cadenza@.service", units / unit)
    done = run("systemd-analyze", "verify", "--man=no", units / unit)
    said = [line for line in done.stderr.splitlines() if unit.split("@", maxsplit=1)[0] in line]
    assert (done.returncode, said) == (0, [])


@pytest.mark.parametrize("unit", ["cadenza.service", "cadenza@.service"])
def test_the_units_are_exposed_to_little(units: Path, unit: str) -> None:
    done = run(
        "systemd-analyze", "security", "--offline=true", "--threshold=30", "--json=short",
        units / unit,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert json.loads(done.stdout)


def test_a_unit_has_no_line_twice() -> None:
    for path in (DEPLOY / "systemd").iterdir():
        parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
        parser.read_string(path.read_text())
        assert set(parser.sections()) == {"Unit", "Service", "Install"}
        lines = [line.partition("=")[0] for line in path.read_text().splitlines() if "=" in line]
        several = {"Environment", "EnvironmentFile"}
        assert len([each for each in lines if each not in several]) == len(
            {each for each in lines if each not in several}
        )
