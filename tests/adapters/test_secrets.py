"""Secrets at rest: what is sealed opens in its place only, and keys are lost loudly."""

import base64
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.adapters.secrets.box import AesGcmBox
from cadenza.adapters.secrets.key_file import KeyFile
from cadenza.adapters.secrets.keys import ConfiguredKeys, MasterKey
from cadenza.domain.errors import InstallationError, SecretUnreadable
from tests.factories import id_of

ONE, TWO, THREE = (bytes((n + i) % 256 for i in range(32)) for n in (1, 50, 100))
PLACE: dict[str, Any] = {
    "tenant_id": id_of("tenant"),
    "row_id": id_of("probe"),
    "column": "endpoints.secret_headers:Authorization",
}
PLAIN = "Bearer tr0ub4dor&3"


def text_of(*keys: bytes) -> str:
    return ",".join(base64.b64encode(key).decode() for key in keys)


def box_of(*keys: bytes) -> AesGcmBox:
    return AesGcmBox(ConfiguredKeys(text_of(*keys)))


def id_of_key(key: bytes) -> str:
    return MasterKey.of(key).id


# --- Sealed values --------------------------------------------------------------------------


@given(plain=st.text(alphabet=st.characters(exclude_categories=())))
def test_whatever_is_sealed_opens_again_in_its_place(plain: str) -> None:
    box = box_of(ONE)
    assert box.open(box.seal(plain, **PLACE), **PLACE) == plain


def test_a_sealed_value_names_its_key_and_shows_nothing_else() -> None:
    sealed = box_of(ONE).seal(PLAIN, **PLACE)
    version, key_id, data = sealed.split(":")
    assert (version, key_id) == ("v1", id_of_key(ONE))
    assert b"tr0ub4dor" not in base64.b64decode(data)
    assert ONE.hex() not in sealed
    assert text_of(ONE) not in sealed


def test_the_same_value_is_never_sealed_the_same_way_twice() -> None:
    box = box_of(ONE)
    assert len({box.seal(PLAIN, **PLACE) for _ in range(100)}) == 100


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"tenant_id": id_of("another tenant")},
        {"row_id": id_of("another row")},
        {"column": "endpoints.secret_headers:X-Other"},
        {"column": "signing_keys.secret"},
        {"column": "endpoints.secret_headers:authorization"},
        {"tenant_id": id_of("probe"), "row_id": id_of("tenant")},
    ],
    ids=["tenant", "row", "header", "table", "case", "swapped ids"],
)
def test_a_ciphertext_that_was_moved_does_not_open(elsewhere: dict[str, Any]) -> None:
    box = box_of(ONE)
    sealed = box.seal(PLAIN, **PLACE)
    with pytest.raises(SecretUnreadable, match="sealed for another place") as message:
        box.open(sealed, **{**PLACE, **elsewhere})
    assert PLAIN not in str(message.value)
    assert message.value.missing_key_id is None


def test_one_that_was_cut_or_changed_anywhere_does_not_open() -> None:
    box = box_of(ONE)
    sealed = box.seal(PLAIN, **PLACE)
    for length in range(len(sealed)):
        with pytest.raises(SecretUnreadable):
            box.open(sealed[:length], **PLACE)
    for index in range(len(sealed)):
        other = "A" if sealed[index] != "A" else "B"
        with pytest.raises(SecretUnreadable):
            box.open(sealed[:index] + other + sealed[index + 1 :], **PLACE)


@pytest.mark.parametrize(
    "garbage",
    [
        *("", ":", "::", "v1:", "v1::", PLAIN, "\0" * 80),
        "v2:0123456789abcdef:" + "A" * 60,
        "v1:0123456789ABCDEF:" + "A" * 60,
        "v1:" + "x" * 16 + ":" + "A" * 60,
        "v1:0123456789abcdef:",
        "v1:0123456789abcdef:%%%",
        "v1:0123456789abcdef:" + "A" * 39,
        "v1:0123456789abcdef:ÄÖÜ" + "A" * 60,
        "v1:0123456789abcdef:" + "A" * 60 + "\n",
    ],
)
def test_what_is_not_sealed_is_told_so_and_not_quoted(garbage: str) -> None:
    with pytest.raises(
        SecretUnreadable, match=r"not a sealed secret.*Enter the secret again"
    ) as it:
        box_of(ONE).open(garbage, **PLACE)
    assert PLAIN not in str(it.value)


def test_the_key_id_cannot_be_exchanged_for_that_of_another_key() -> None:
    sealed = box_of(ONE).seal(PLAIN, **PLACE)
    moved = sealed.replace(id_of_key(ONE), id_of_key(TWO))
    with pytest.raises(SecretUnreadable, match="does not open"):
        box_of(ONE, TWO).open(moved, **PLACE)


def test_the_first_key_writes_and_all_of_them_read() -> None:
    by_one, by_two = box_of(ONE).seal("1", **PLACE), box_of(TWO).seal("2", **PLACE)
    both = box_of(TWO, ONE)
    assert (both.open(by_one, **PLACE), both.open(by_two, **PLACE)) == ("1", "2")
    assert f":{id_of_key(TWO)}:" in both.seal("3", **PLACE)
    assert both.key_ids == [id_of_key(TWO), id_of_key(ONE)]


def test_a_lost_key_is_named_with_what_to_do() -> None:
    sealed = box_of(ONE).seal(PLAIN, **PLACE)
    with pytest.raises(SecretUnreadable) as message:
        box_of(TWO).open(sealed, **PLACE)
    assert message.value.missing_key_id == id_of_key(ONE)
    assert f"master key {id_of_key(ONE)}, which this program does not have" in str(message.value)
    assert "Put that key back" in str(message.value)
    assert "enter the secret again" in str(message.value)


def test_a_header_is_opened_in_a_few_microseconds() -> None:
    box = box_of(ONE)
    sealed = box.seal(PLAIN, **PLACE)
    best = min(_seconds_to_open(box, sealed, times=200) for _ in range(30))
    assert best < 20e-6  # four, where nobody else is at work


def _seconds_to_open(box: AesGcmBox, sealed: str, times: int) -> float:
    began = perf_counter()
    for _ in range(times):
        box.open(sealed, **PLACE)
    return (perf_counter() - began) / times


# --- Keys in a setting ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(ONE).decode(),
        base64.b64encode(ONE).decode().rstrip("="),
        base64.urlsafe_b64encode(ONE).decode(),
        ONE.hex(),
        ONE.hex().upper(),
        f"  {ONE.hex()}\n",
        f",{ONE.hex()},,",
        f"{ONE.hex()},{base64.b64encode(ONE).decode()}",
    ],
)
def test_a_key_may_be_base64_or_hex(text: str) -> None:
    assert ConfiguredKeys(text).ids == [id_of_key(ONE)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "holds no key"),
        (" , ,\n", "holds no key"),
        ("# only a comment", "holds no key"),
        ("hunter2hunter2", r"Key 1 in CADENZA_MASTER_KEY cannot be used.*14 characters"),
        (base64.b64encode(ONE[:31]).decode(), "cannot be used"),
        (base64.b64encode(ONE + b"x").decode(), "cannot be used"),
        (ONE.hex()[:-1], "cannot be used"),
        ("ü" * 44, "cannot be used"),
        (f"{ONE.hex()},hunter2hunter2", "Key 2 in CADENZA_MASTER_KEY"),
        ("0" * 64, "it is not random"),
        (base64.b64encode(b"abab" * 8).decode(), "it is not random"),
    ],
)
def test_a_key_that_is_none_is_refused_and_never_quoted(text: str, why: str) -> None:
    with pytest.raises(InstallationError, match=why) as said:
        ConfiguredKeys(text)
    assert "openssl rand -base64 32" in str(said.value)
    assert all(word not in str(said.value) for word in text.split(",") if len(word) > 7)


def test_keys_do_not_show_themselves() -> None:
    assert ONE.hex() not in repr(MasterKey.of(ONE))
    assert "AESGCM" not in repr(MasterKey.of(ONE))


# --- The key file ---------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "master.key"


def key_file(path: Path) -> KeyFile:
    """One that has nothing to complain of."""
    return KeyFile(path, pytest.fail)


def test_the_first_start_makes_a_file_that_only_its_owner_reads(path: Path) -> None:
    old_umask = os.umask(0)
    try:
        made = key_file(path)
    finally:
        os.umask(old_umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert key_file(path).ids == made.ids
    assert "Keep a copy" in path.read_text()
    assert sorted(file.name for file in path.parent.iterdir()) == ["master.key", "master.key.lock"]


START = """
import sys
from pathlib import Path
from cadenza.adapters.secrets.key_file import KeyFile
sys.stdin.read()
print(KeyFile(Path(sys.argv[1]), print).ids[0])
"""


def test_programs_that_start_at_once_all_get_the_same_key(path: Path) -> None:
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", START, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    for program in programs:  # all have started, and wait for this
        assert program.stdin is not None
        program.stdin.close()
        program.stdin = None
    outputs = {program.communicate()[0].strip() for program in programs}
    assert [program.returncode for program in programs] == [0] * 6
    assert outputs == {key_file(path).ids[0]}


def test_a_program_that_was_killed_while_it_wrote_is_in_nobodys_way(path: Path) -> None:
    path.parent.mkdir()
    path.with_name("master.key.new").write_text("half a k")
    assert len(key_file(path).ids) == 1


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o666, 0o777])
def test_a_file_that_others_can_read_is_closed_to_them_with_a_word(path: Path, mode: int) -> None:
    key_file(path)
    path.chmod(mode)
    warnings: list[str] = []
    KeyFile(path, warnings.append)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(warnings) == 1
    assert f"mode {mode:03o}" in warnings[0]
    assert "cadenza secrets rotate" in warnings[0]
    key_file(path)  # and nothing more to say


NOBODY = 65534


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_file_that_is_open_and_not_ours_is_refused(path: Path) -> None:
    key_file(path)
    path.chmod(0o644)
    for folder in path.parents[:-2]:  # down to it from /tmp
        folder.chmod(0o755)
    code = (
        "import os; from pathlib import Path; "
        "from cadenza.adapters.secrets.key_file import KeyFile\n"
        f"os.setuid({NOBODY})\n"
        f"KeyFile(Path({str(path)!r}), print)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "is open to other users (mode 644), and it is not ours to change" in done.stderr
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# empty\n", b"\0\xff\xfe" * 20, b"hunter2\n"])
def test_a_file_with_no_key_in_it_is_a_clear_error_and_is_left_alone(
    path: Path, content: bytes
) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(
        InstallationError, match=r"master\.key (holds no key|cannot be used)"
    ) as message:
        key_file(path)
    assert "hunter2" not in str(message.value)
    assert path.read_bytes() == content


def test_a_pipe_a_folder_or_a_huge_file_in_its_place_is_refused_at_once(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path, 0o600)
    with pytest.raises(InstallationError, match="not a file of keys"):
        key_file(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(InstallationError, match="not a file of keys"):
        key_file(path)
    path.rmdir()
    path.write_bytes(b"#" * 100_000)
    with pytest.raises(InstallationError, match="not a file of keys"):
        key_file(path)


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    with pytest.raises(
        InstallationError, match=r"data folder .* cannot be made: .*CADENZA_DATA_FOLDER"
    ):
        key_file(tmp_path / "data" / "master.key")


def test_a_new_key_comes_first_and_leaves_everything_else_in_place(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(f"# ours\n\n{ONE.hex()}  # the old one\n{TWO.hex()}\n")
    path.chmod(0o600)
    keys = key_file(path)
    new = keys.add_key()
    assert keys.ids == [new.id, id_of_key(ONE), id_of_key(TWO)]
    assert key_file(path).ids == keys.ids
    assert "# the old one" in path.read_text()
    assert path.read_text().startswith("# ours\n\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_running_program_reads_and_writes_with_a_key_that_came_later(path: Path) -> None:
    running, rotating = AesGcmBox(key_file(path)), key_file(path)
    before = running.seal("before", **PLACE)
    new = rotating.add_key()
    assert AesGcmBox(rotating).open(before, **PLACE) == "before"
    assert running.open(AesGcmBox(rotating).seal("after", **PLACE), **PLACE) == "after"
    rotating.add_key()
    assert f":{new.id}:" not in running.seal("more", **PLACE)


def test_nothing_is_sealed_with_a_key_whose_file_is_gone(path: Path) -> None:
    box = AesGcmBox(key_file(path))
    sealed = box.seal(PLAIN, **PLACE)
    path.unlink()
    assert box.open(sealed, **PLACE) == PLAIN  # what we know we still read
    with pytest.raises(InstallationError, match=r"master\.key cannot be used: No such file.*back"):
        box.seal(PLAIN, **PLACE)
    with pytest.raises(SecretUnreadable, match="does not have"):
        box.open(box_of(THREE).seal(PLAIN, **PLACE), **PLACE)


def test_a_lost_file_makes_a_new_key_and_old_secrets_say_which_one_is_missing(path: Path) -> None:
    first = AesGcmBox(key_file(path))
    sealed = first.seal(PLAIN, **PLACE)
    path.unlink()
    second = AesGcmBox(key_file(path))
    with pytest.raises(SecretUnreadable, match=first.key_ids[0]):
        second.open(sealed, **PLACE)
    assert second.open(second.seal("new", **PLACE), **PLACE) == "new"


def test_programs_that_add_a_key_at_once_lose_none(path: Path) -> None:
    key_file(path)
    code = START.replace(".ids[0]", ".add_key().id")
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdin=subprocess.DEVNULL, stdout=-1, text=True
        )
        for _ in range(4)
    ]
    outputs = {program.communicate()[0].strip() for program in programs}
    assert outputs <= set(key_file(path).ids)
    assert len(key_file(path).ids) == 5


def test_json_takes_a_sealed_value_as_it_is() -> None:
    sealed = box_of(ONE).seal(PLAIN, **PLACE)
    assert json.dumps(sealed) == f'"{sealed}"'
