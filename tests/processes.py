"""Processes of a test's own."""

import signal
import subprocess
import sys


def hear_interrupts():
    """Let Ctrl-C be heard: a shell without job control, as CI's may be, starts background jobs deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start_python(*words, **more):
    """Start Python with some arguments, in a process group of its own, its outputs as texts."""
    return subprocess.Popen(
        [sys.executable, *map(str, words)],
        start_new_session=True,
        text=True,
        preexec_fn=hear_interrupts,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},
    )
