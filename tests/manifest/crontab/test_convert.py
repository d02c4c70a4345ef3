"""A crontab into a file for `apply`."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.manifest.crontab.convert import Converted, convert, to_file
from cadenza.manifest.files import read_manifest
from cadenza.manifest.yaml_loading import read_tree
from tests.manifest.policy import CHECKS


def converted(text: str, *, system: bool = False, timezone: str | None = "UTC") -> Converted:
    return convert(text, CHECKS, system=system, timezone=timezone)


def only(text: str, **options: Any) -> dict[str, Any]:
    """The one endpoint."""
    [document] = converted(text, **options).documents
    return document["endpoints"][0]


def notes(text: str, **options: Any) -> list[str]:
    notes = converted(text, **options).notes
    return [str(note) for note in notes if not note.text.startswith("commands need")]


# --- Lines ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "cron"),
    [
        ("0 3 * * * ls", "0 3 * * *"),
        ("\t 0   3\t* * *\t ls  ", "0 3 * * *"),
        ("*/5 8-18/2 1,15 jan-mar mon-fri ls\r", "*/5 8-18/2 1,15 jan-mar mon-fri"),
        ("0 0 * * 7 ls", "0 0 * * 7"),
        ("@daily ls", "@daily"),
        ("@Midnight\tls", "@Midnight"),
    ],
)
def test_a_schedule_is_taken_over_however_it_is_spaced(line: str, cron: str) -> None:
    endpoint = only(line)
    assert (endpoint["cron"], endpoint["command"]) == (cron, ["ls"])


def test_a_zone_comes_from_cron_tz_or_from_the_option() -> None:
    assert only("CRON_TZ=Asia/Tokyo\n@daily ls")["timezone"] == "Asia/Tokyo"
    assert only("@daily ls", timezone="Europe/Paris")["timezone"] == "Europe/Paris"
    text = "@daily a\nCRON_TZ=Asia/Tokyo\n@daily b\nCRON_TZ='Europe/Paris'\n@daily c"
    documents = converted(text, timezone=None).documents
    zones = [job["endpoints"][0].get("timezone") for job in documents]
    assert zones == [None, "Asia/Tokyo", "Europe/Paris"]


def test_without_a_zone_it_is_said_that_times_are_taken_as_utc() -> None:
    assert any("taken as UTC" in note for note in notes("@daily ls", timezone=None))
    assert notes("CRON_TZ=UTC\n@daily ls", timezone=None) == []


def test_tz_is_given_to_the_commands_as_cron_does_and_said() -> None:
    assert only("TZ=Asia/Tokyo\n@daily ls")["command"] == ["env", "TZ=Asia/Tokyo", "ls"]
    [note] = notes("TZ=Asia/Tokyo\n@daily ls")
    assert note.startswith("line 1: TZ")


def test_comments_right_above_a_line_describe_it() -> None:
    text = (
        "# m h  dom mon dow   command\n# Far away.\n\n# Backs up.\n#\n#  At night.\n@daily a\n"
        "# 0 5 * * * /old/one\n# Kept.\n@daily b\n@daily c\n"
    )
    described = [job.get("description") for job in converted(text).documents]
    assert described == ["Backs up.\n\nAt night.", "Kept.", None]


def test_lines_that_cannot_be_taken_over_are_told_by_number() -> None:
    text = (
        "@reboot a\n1 2 3 4\n61 * * * * b\n@fortnightly c\n0 0 30 2 * d\n0 5 * * *\n~ * * * * e\n"
    )
    assert [note.partition(":")[0] for note in notes(text)] == [f"line {n}" for n in range(1, 8)]
    assert converted(text).documents == []


def test_a_bad_zone_is_told_with_every_line_it_spoils() -> None:
    [note] = notes("CRON_TZ=Europe/Pari\n@daily ls")
    assert "line 2: left out" in note
    assert "Europe/Paris" in note


def test_settings_hold_for_the_lines_below_them() -> None:
    text = '@daily a\nA = "x y"\n@daily b\nSHELL=/bin/bash\nA=2\n@daily c | d\nMAILTO=""\n'
    commands = [job["endpoints"][0]["command"] for job in converted(text).documents]
    assert commands == [["a"], ["env", "A=x y", "b"], ["env", "A=2", "/bin/bash", "-c", "c | d"]]
    assert notes(text) == []
    assert "line 1: MAILTO: output is not mailed" in notes("MAILTO=me\n@daily a")[0]


@pytest.mark.parametrize(
    "text",
    [
        "# m h dom mon dow user\tcommand\n0 3 * * * deploy ls",
        "# *  *  *  *  * user-name  command to be executed\n0 3 * * * deploy ls",
        "0 3 * * * deploy ls\n0 4 * * *\troot\tls",
    ],
)
def test_a_system_crontab_that_is_read_as_a_users_own_is_noticed(text: str) -> None:
    assert any("add --system" in note for note in notes(text))
    assert not any("add --system" in note for note in notes(text, system=True))


def test_what_a_user_runs_is_not_taken_for_a_user() -> None:
    assert notes("# m h dom mon dow command\n0 3 * * * rooted /root\n@daily ls") == []


def test_a_line_that_is_not_logged_runs_at_its_times() -> None:
    assert only("-*/15 * * * * ls")["cron"] == "*/15 * * * *"
    assert only("-0 3 * * * ls")["cron"] == "0 3 * * *"


def test_a_system_crontab_names_users() -> None:
    endpoint = only("0 3 * * *  root  ls -l", system=True)
    assert endpoint["command"] == ["ls", "-l"]
    [note] = notes("0 3 * * * root ls", system=True)
    assert "line 1: ran as root" in note
    assert "line 1: cannot be read" in notes("0 3 * * * root", system=True)[0]
    assert notes("@daily root curl https://example.com/", system=True) == []


# --- Targets --------------------------------------------------------------------------------


def test_a_command_may_take_as_long_as_there_is() -> None:
    assert only("@daily ls")["timeout"] == "30m"


def test_a_line_that_needs_a_shell_gets_one() -> None:
    assert only("@daily cd /srv && ./x")["command"] == ["sh", "-c", "cd /srv && ./x"]
    assert only("@daily cat%a%b")["command"] == ["sh", "-c", "printf '%s\\n' 'a\nb' | (\ncat\n)"]


@pytest.mark.parametrize(
    "silence",
    [" >/dev/null", " > /dev/null 2>&1", " &>/dev/null", " 2>/dev/null", " 1>/dev/null 2>/dev/null",
     ">/dev/null 2>&1", " 2>&1 >/dev/null", ""],
)  # fmt: skip
def test_an_exact_curl_becomes_http_also_where_its_output_is_thrown_away(silence: str) -> None:
    endpoint = only(f"@daily curl -fsS https://example.com/ping2{silence}")
    assert endpoint["url"] == "https://example.com/ping2"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("curl -k https://example.com/", "-k has no counterpart"),
        ("curl https://example.com/ | grep x", "a shell has to read it"),
        ("curl https://example.com/$X", "a shell has to read it"),
        ("curl https://example.com/ >> /var/log/x", "a shell has to read it"),
        ("curl https://jane:pw@example.com/", "user name"),
        ("curl -H 'Host: x' https://example.com/", "Cadenza's to set"),
        ("curl -X GET -d x https://example.com/", "a GET has none"),
        ("curl https://example.com/%input", "a shell has to read it"),
    ],
)
def test_any_other_curl_stays_a_command_with_a_note(line: str, why: str) -> None:
    [note] = notes(f"@daily {line}")
    assert note.startswith("line 1: this curl stays a command")
    assert why in note
    assert "command" in only(f"@daily {line}")


def test_a_curl_through_a_proxy_stays_a_command() -> None:
    text = "https_proxy=http://proxy:3128\n@daily curl https://example.com/"
    assert only(text)["command"][-1] == "https://example.com/"


def test_secrets_stay_out_of_the_file() -> None:
    line = "@daily curl -H 'Authorization: Bearer hush-4711' https://example.com/a.b\n"
    again = line.replace("a.b", "a-b")
    result = converted(line + again)
    assert "hush-4711" not in to_file(result)
    variables = [job["endpoints"][0]["secret_headers"]["Authorization"] for job in result.documents]
    assert variables == [
        "${CRON_EXAMPLE_COM_A_B_AUTHORIZATION}",
        "${CRON_EXAMPLE_COM_A_B_AUTHORIZATION_2}",
    ]
    assert "set CRON_EXAMPLE_COM_A_B_AUTHORIZATION for" in str(result.notes[0])


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/usr/local/bin/backup.sh --all", "backup"),
        ("cd /srv/app && ./tidy_up.sh", "tidy-up"),
        ("sudo -u joe python3 /srv/report.py", "report"),
        ("FOO=bar /usr/bin/php /srv/artisan schedule:run", "artisan-schedule-run"),
        ("python manage.py clearsessions", "manage-clearsessions"),
        ("/usr/bin/certbot renew -q", "certbot-renew"),
        ("rsync -a /srv/a /srv/b", "rsync"),
        ("curl -s https://api.example.com/v1/sync/?a=b", "api.example.com-sync"),
        ("[ -x /usr/bin/x ] && run-parts /etc/cron.daily", "run-parts"),
        ("test -x /usr/sbin/anacron || run-parts /etc/cron.daily", "run-parts"),
        ("$X", "job"),
        ("/usr/bin/日本", "job"),
    ],
)
def test_a_name_comes_from_what_is_run(command: str, name: str) -> None:
    [document] = converted(f"@daily {command}").documents
    assert document["name"] == name


def test_names_are_made_unique() -> None:
    documents = converted("@daily ls -l\n@hourly ls\n@weekly /bin/ls -a\n").documents
    assert [job["name"] for job in documents] == ["ls", "ls-2", "ls-3"]


# --- The file -------------------------------------------------------------------------------


def test_what_was_not_taken_over_stands_as_comments_at_the_head() -> None:
    text = to_file(converted("@reboot a\u2028jobs: x\n@daily ls"))
    assert "# - line 1: @reboot has no counterpart, left out: a jobs: x\n" in text
    assert len(read_tree("x", text).value["jobs"]) == 1


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["@daily ", "0 3 * * 1 ", "* * ", "# ", "CRON_TZ=", "A=", "curl ", "-H 'X-Key: y' ",
             "https://example.com/", "%", "\\%", "'", '"', "$", " ls ", "\n", "\t", "é", "-d x "]
        )
        | st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=5),
        max_size=30,
    ).map("".join)
)  # fmt: skip
def test_whatever_a_crontab_holds_its_file_is_valid(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    file: Path = tmp_path_factory.getbasetemp() / "from-crontab.yaml"
    file.write_text(to_file(converted(text)), encoding="utf-8")
    assert read_manifest(file, CHECKS, None).problems == []


def test_a_job_that_is_named_takes_every_line() -> None:
    crontab = "# Save the shop.\n0 3 * * * /srv/backup.sh\n@hourly certbot renew -q\n"
    checked = convert(crontab, CHECKS, system=False, timezone="UTC", job="night")
    [document] = checked.documents
    assert document["name"] == "night"
    assert document["description"] == "backup: Save the shop."
    assert [endpoint["name"] for endpoint in document["endpoints"]] == ["backup", "certbot-renew"]
