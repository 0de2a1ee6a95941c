"""pine demo | train | predict | embed | neighbors | links | explore | export | evaluate | reproduce | datasets.

One file a command, with its options and all that it prints. What a command computes with is loaded when it runs:
`pine --help` needs none of it.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from typing import Annotated, Any, NoReturn

import typer

from pine._internal.signals import stopped_with_a_sentence, was_stopped
from pine._version import __version__
from pine.cli import datasets, demo, embed, evaluate, explore, export, links, neighbors, predict, reproduce, train
from pine.cli.console import plain_console
from pine.errors import InputError, sentence

app = typer.Typer(
    help="PINE: a vector for every node of a graph, learned from its neighbors alone.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # neither help nor errors read the words of users as markup
    context_settings={"help_option_names": ["-h", "--help"]},
)
WAYS_OUT = {
    errno.ENOSPC: "; make room, and give the same command again",
    errno.EDQUOT: "; make room, and give the same command again",
    errno.EACCES: "; take another place, or change who may use this one",
    errno.EROFS: "; take a place that can be written to",
}
# Some versions of typer carry click inside, others import it.
ClickError: type[Exception] = typer.BadParameter.__mro__[2]
LONGEST_WARNING = 500  # characters
COMMANDS = (
    demo.demo,
    train.train,
    predict.predict,
    embed.embed,
    neighbors.neighbors,
    links.links,
    explore.explore,
    export.export,
    evaluate.evaluate,
    reproduce.reproduce,
    datasets.datasets,
)
for command in COMMANDS:
    app.command()(command)


def main() -> None:
    """Run a command; what a user did wrong is said in one sentence, and the exit code is 2."""
    with stopped_with_a_sentence():
        warnings.showwarning = _show_warning
        try:
            code = app(standalone_mode=False)
        except BrokenPipeError:
            # Whoever read our output has seen enough.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except ClickError as problem:
            _explain_usage(problem)
        except (InputError, OSError) as problem:
            if was_stopped():
                raise
            _refuse(problem)
        else:
            if isinstance(code, int) and code:
                sys.exit(code)


def _refuse(problem: object) -> NoReturn:
    # Those of our own errors that name addresses and places may be longer, and are cut where they are made.
    _to_stderr(f"error: {problem if isinstance(problem, InputError) else sentence(_in_words(problem))}")
    sys.exit(2)


def _in_words(problem: object) -> object:
    """What the system refused, without its number, and where there is one a way out."""
    if not isinstance(problem, OSError) or problem.strerror is None or problem.filename is None:
        return problem
    way_out = WAYS_OUT.get(problem.errno or 0, "")
    return f"{problem.filename}: {problem.strerror.lower()}{way_out}"


def _explain_usage(problem: Any) -> NoReturn:
    """Words that are no command or option, or no value of one."""
    if type(problem).__name__ == "NoArgsIsHelpError":
        problem.show()
        sys.exit(problem.exit_code)
    message = problem.format_message().rstrip(".")
    context = getattr(problem, "ctx", None)
    _refuse(f"{message}; see {context.command_path} --help" if context is not None else message)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _to_stderr(f"warning: {sentence(message, LONGEST_WARNING)}")


def _to_stderr(line: str) -> None:
    plain_console(stderr=True).print(line)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pine {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, help="Show the version.")] = False,
) -> None:
    pass
