"""`python -m tests.fuzz`: coverage-guided fuzzing with atheris, a process for each reader.

What it finds is written to `.fuzz/`; `--replay` reads such a file again.
"""

import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["cadenza", "cronsim"]):
    from tests.fuzz.readers import READERS

LONGEST = "4096"
FOUND = Path(".fuzz")


def _fuzz(name: str, seconds: int) -> None:
    """Never comes back: libFuzzer ends the process."""
    reader, corpus = READERS[name], FOUND / "corpus" / name  # kept for the next time
    corpus.mkdir(parents=True, exist_ok=True)
    for number, sample in enumerate(reader.samples):
        (corpus / f"sample-{number}").write_bytes(sample)
    limits = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=5"]
    options = [*limits, "-verbosity=0", f"-artifact_prefix={FOUND}/{name}-"]
    atheris.Setup([sys.argv[0], *options, "-print_final_stats=1", str(corpus)], reader.read)
    atheris.Fuzz()


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=30, help="for each reader")
    parser.add_argument("--replay", type=Path, help="a file that was found")
    parser.add_argument("reader", nargs="?", choices=list(READERS))
    asked = parser.parse_args()
    if asked.replay is not None:
        READERS[asked.reader].read(asked.replay.read_bytes())
        return 0
    if asked.reader is not None:
        _fuzz(asked.reader, asked.seconds)
    broken: list[str] = []
    for name in READERS:
        command = [sys.executable, "-m", "tests.fuzz", name, "--seconds", str(asked.seconds)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        runs = [line for line in ended.stderr.splitlines() if "number_of_executed" in line]
        print(f"{name:10} {'well' if ended.returncode == 0 else 'BROKEN'} {''.join(runs[-1:])}")
        if ended.returncode != 0:
            broken.append(name)
            print(ended.stdout[-3000:], ended.stderr[-1000:], file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
