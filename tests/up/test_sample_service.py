"""The sample service keeps the port that it once had: yesterday's job finds it there."""

import socket
from pathlib import Path

from aiohttp import ClientSession, web

from cadenza.adapters.system.listening import HOST
from cadenza.up.sample_service import USUAL_PORT, SamplePort, sample_service
from cadenza.up.welcome import path_line
from tests.ports import free_port


def test_the_first_choice_is_kept_with_the_data(tmp_path: Path) -> None:
    first = SamplePort(tmp_path).chosen(None)
    with socket.socket() as other:  # whoever takes the usual port does not move it
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if first != USUAL_PORT:
            assert SamplePort(tmp_path).chosen(None) == first
            return
        other.bind((HOST, USUAL_PORT))
        assert SamplePort(tmp_path).chosen(None) == USUAL_PORT


def test_a_port_that_is_asked_for_is_kept_from_then_on(tmp_path: Path) -> None:
    port = free_port()
    assert SamplePort(tmp_path).chosen(port) == port
    assert SamplePort(tmp_path).chosen(None) == port


def test_a_file_that_says_nothing_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "sample.port").write_text("not a port")
    assert 0 < SamplePort(tmp_path).chosen(None) < 65536


async def test_where_its_port_is_taken_it_says_so_and_takes_no_other() -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        async with sample_service(port, web.Application()) as sample:
            assert sample.address is None
            assert f"port {port}" in (sample.trouble or "")
            assert "--sample-port" in (sample.trouble or "")


async def test_it_answers_with_a_queue_depth_or_is_left_out() -> None:
    async with sample_service(free_port(), web.Application()) as sample, ClientSession() as session:
        assert sample.address is not None
        async with session.get(sample.address) as answer:
            assert "queue_depth" in await answer.json()
    async with sample_service(None, web.Application()) as nothing:
        assert (nothing.address, nothing.trouble) == (None, None)


def test_a_shell_is_told_where_the_command_is_unless_it_knows(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "cadenza"
    program.parent.mkdir()
    program.touch()
    assert path_line(program, "/usr/bin") == f'export PATH="{program.parent}:$PATH"'
    assert path_line(program, f"/usr/bin:{program.parent}") is None
    assert path_line(tmp_path / "pytest", "/usr/bin") is None
