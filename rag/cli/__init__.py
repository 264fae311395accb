"""The command `citewise`. Heavy imports happen inside the commands, so that help and errors are instant."""

import os
import sys

import typer

from rag.cli.ask import ask, search
from rag.cli.chat import chat
from rag.cli.corpus import corpus_app
from rag.cli.doctor import doctor
from rag.cli.evals import eval_app
from rag.cli.ingest import ingest
from rag.cli.model import model_app
from rag.cli.prompts import prompts_app
from rag.cli.screen import EXIT_BUSY, EXIT_FAILED, EXIT_USAGE, print_error
from rag.errors import CitewiseError, CorpusBusyError, SettingsError

app = typer.Typer(
    name="citewise",
    help="Ask a corpus of paper abstracts; every sentence of an answer cites the sentence that supports it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(ask)
app.command()(search)
app.command()(ingest)
app.add_typer(corpus_app, name="corpus")
app.command()(chat)
app.command()(doctor)
app.add_typer(eval_app, name="eval")
app.add_typer(model_app, name="model")
app.add_typer(prompts_app, name="prompts")


def main() -> None:
    """Runs the command line; an expected error is one message and an exit code, never a traceback."""
    try:
        app()
    except SettingsError as error:
        print_error(error)
        sys.exit(EXIT_USAGE)
    except CorpusBusyError as error:
        print_error(error)
        sys.exit(EXIT_BUSY)
    except CitewiseError as error:
        print_error(error)
        sys.exit(EXIT_FAILED)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone (`citewise ... | head`): keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_FAILED)
