"""What `AppriseSender` starts: one message, under the guard of the installation."""

import sys

from cadenza.adapters.http.addresses import AddressPolicy, Verdict, parse_networks, parse_ports
from cadenza.adapters.http.guard import BlockedAddress, address_of
from cadenza.adapters.notify.child import read_request, run_child


def main() -> None:
    request = read_request()
    policy = AddressPolicy(parse_networks(request["networks"]), parse_ports(request["ports"]))

    def admits(host: str, port: int) -> bool:
        try:
            address = address_of(host)
        except BlockedAddress:
            return False
        # A name that has not been looked up could become any address.
        is_judged = address is not None and policy.verdict(address) is not Verdict.REFUSED
        return is_judged and policy.allows_port(port)

    run_child(admits, request, sys.stdout)


if __name__ == "__main__":
    main()
