"""Tests that need a network are skipped without one, and fail for all other reasons."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import frontend, network

NOWHERE = "http://127.0.0.1:9"  # a port that nothing listens at


def test_what_npm_says_without_a_network_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("npm_config_registry", NOWHERE)
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    with pytest.raises(pytest.skip.Exception, match="npm's registry, which has requirejs@"):
        frontend.packed_file("requirejs@2.3.8", "", "require.js", tmp_path / "package")


def test_what_pip_says_without_a_network_is_known(tmp_path: Path) -> None:
    options = ("--isolated", "--retries=1", "--no-deps", "-i", NOWHERE)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", *options, "hatchling"],
        cwd=tmp_path,
        env=os.environ | {"PIP_CONFIG_FILE": os.devnull},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode != 0
    assert network.is_unreachable(done.stdout), done.stdout


@pytest.mark.parametrize(
    "said",
    [
        "npm error code ETARGET\nnpm error notarget No matching version found for requirejs@99",
        "npm error code EINTEGRITY\nnpm error sha512-a integrity checksum failed",
        "npm error code DEPTH_ZERO_SELF_SIGNED_CERT",
        "ERROR: Could not find a version that satisfies the requirement a (from versions: none)",
        "WARNING: Retrying after connection broken by 'ReadTimeoutError(…)'\n"
        "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
    ],
)
def test_what_is_wrong_with_a_network_stays_a_failure(said: str) -> None:
    assert not network.is_unreachable(said)
