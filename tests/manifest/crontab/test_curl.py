"""curl lines as HTTP targets, where the same request goes out."""

import shlex
from typing import Any

import pytest

from cadenza.manifest.crontab.curl import NotExact, http_target

URL = "https://example.com/a"
GET = {"url": URL, "method": "GET", "timeout": "30m"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
POST = {**GET, "method": "POST"}


def target(line: str) -> dict[str, Any]:
    return http_target(shlex.split(line))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"curl {URL}", GET),
        (f"/usr/bin/curl -s -S -f --fail --silent --show-error {URL}", GET),
        (f"curl -fsSo /dev/null {URL}", GET),
        (f"curl --output /dev/null --url {URL} -v -i --compressed", GET),
        (f"curl -m 10 {URL}", {**GET, "timeout": "10s"}),
        (f"curl -sm10 {URL}", {**GET, "timeout": "10s"}),
        (f"curl --max-time 2.5 {URL}", {**GET, "timeout": "2s500ms"}),
        (f"curl --max-time 99999 {URL}", GET),
        (f"curl -X DELETE {URL}", {**GET, "method": "DELETE"}),
        (f"curl -XPUT {URL}", {**GET, "method": "PUT"}),
        (f"curl -I {URL}", {**GET, "method": "HEAD"}),
        (f"curl -d a=b {URL}", {**POST, "headers": FORM, "body": "a=b"}),
        (f"curl -da=b --data c=d {URL}", {**POST, "headers": FORM, "body": "a=b&c=d"}),
        (f"curl --data-raw @x {URL}", {**POST, "headers": FORM, "body": "@x"}),
        (f"curl -d '' {URL}", {**POST, "headers": FORM, "body": ""}),
        (f"curl -X PUT -d x {URL}", {**POST, "method": "PUT", "headers": FORM, "body": "x"}),
        (
            f"curl -H 'content-type: text/plain' -d x {URL}",
            {**POST, "headers": {"content-type": "text/plain"}, "body": "x"},
        ),
        (
            f"curl --json '{{}}' {URL}",
            {
                **POST,
                "headers": {"Content-Type": "application/json", "Accept": "application/json"},
                "body": "{}",
            },
        ),
        (f"curl -H 'X-A:  b:c ' {URL}", {**GET, "headers": {"X-A": "b:c"}}),
        (f"curl -A me {URL}", {**GET, "headers": {"User-Agent": "me"}}),
        (f"curl -H 'Authorization: x' {URL}", {**GET, "secret_headers": {"Authorization": "x"}}),
        (f"curl -H 'X-Api-Key: x' {URL}", {**GET, "secret_headers": {"X-Api-Key": "x"}}),
        (f"curl -L {URL}", {**GET, "max_redirects": 10}),
        (f"curl -L --max-redirs 3 {URL}", {**GET, "max_redirects": 3}),
    ],
)
def test_the_same_request(line: str, expected: dict[str, Any]) -> None:
    assert target(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "curl", f"curl {URL} {URL}", "curl example.com", "curl ftp://example.com/",
        "curl https://example.com/[1-3]", "curl https://example.com/{a,b}",
        f"curl -u a:b {URL}", f"curl -k {URL}", f"curl -G -d x {URL}", f"curl -F a=b {URL}",
        f"curl -T file {URL}", f"curl -b c {URL}", f"curl --retry 3 {URL}", f"curl -x proxy {URL}",
        f"curl --connect-timeout 3 {URL}", f"curl -o file {URL}", f"curl -O {URL}",
        f"curl -d @file {URL}", f"curl --data-urlencode a=b {URL}", f"curl --json @f {URL}",
        f"curl --json a --json b {URL}", f"curl -H 'X-A:' {URL}", f"curl -H 'X-A;' {URL}",
        f"curl -H @file {URL}", f"curl -H 'A: 1' -H 'a: 2' {URL}", f"curl -X post {URL}",
        f"curl -X PURGE {URL}", f"curl -m 0 {URL}", f"curl -m soon {URL}", f"curl {URL} -m",
        f"curl -L -d x {URL}", f"curl -L -H 'X-A: b' {URL}", f"curl -L -X PUT {URL}",
        f"curl -L --max-redirs 50 {URL}", f"curl --max-redirs -1 -L {URL}", f"curl -w x {URL}",
        f"curl --next {URL}", f"curl -K file {URL}", f"curl --unknown {URL}", f"curl -A '' {URL}",
        f"curl - {URL}", f"curl -e ';auto' {URL}", f"curl --max-time=10 {URL}", f"curl -- {URL}",
        f"curl --max-tim 10 {URL}", f"curl -d -x {URL}", f"curl --json a -d b {URL}",
    ],
)  # fmt: skip
def test_whatever_else_a_line_does_it_stays_a_command(line: str) -> None:
    with pytest.raises(NotExact):
        target(line)
