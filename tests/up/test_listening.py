"""Where a program cannot listen, it says why, and what to do."""

import socket

import pytest

from cadenza.adapters.system.listening import address_of, check_can_listen, is_free
from cadenza.domain.errors import InstallationError
from tests.ports import free_port


def test_a_free_port_is_free_and_a_taken_one_is_told_with_another() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port := free_port()))
        taken.listen()
        assert not is_free("127.0.0.1", port)
        with pytest.raises(InstallationError, match="cadenza api --port"):
            check_can_listen("api", "127.0.0.1", port)
    check_can_listen("api", "127.0.0.1", port)


@pytest.mark.parametrize("host", ["nonsense.invalid", "203.0.113.7", "2001:db8::7", "a b"])
def test_a_host_that_is_not_ours_is_not_called_taken(host: str) -> None:
    with pytest.raises(InstallationError, match="not an address of this machine"):
        check_can_listen("up", host, 0)


def test_an_address_of_six_has_brackets() -> None:
    assert address_of("::1", 8080) == "http://[::1]:8080"
    assert address_of("127.0.0.1", 8080) == "http://127.0.0.1:8080"
