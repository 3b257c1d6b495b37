"""The command line: `groundling demo`, and more commands as the package grows."""

# Nothing heavy is imported here, so that --help answers at once; commands import what they need.

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app", "main"]

app = typer.Typer(
    name="groundling",
    help="Teach an agent to follow plain-language instructions from demonstrations.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from groundling import __version__

        typer.echo(f"groundling {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Teach an agent to follow plain-language instructions from demonstrations."""


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the pictures and the trained model.")
    ] = Path("demo"),
    parser: Annotated[
        str, typer.Option(help="Parser: default, chain, spacy:NAME or conllu:PATH.")
    ] = "default",
    demonstrations: Annotated[
        int, typer.Option("--demonstrations", "-n", min=3, max=3000, help="How many to learn from.")
    ] = 300,
    held_out: Annotated[
        int, typer.Option(min=1, max=3000, help="How many unseen sentences and routes to score.")
    ] = 100,
    images: Annotated[
        Path | None, typer.Option(help="Folder that also gets the pictures of the README.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Train again even if a trained model is there.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    """Learn from generated mazes, then follow and explain new instructions in an unseen one."""
    # Small optimisation steps are slower on more threads; it must be set before NumPy loads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from groundling.errors import GroundlingError

    try:
        from groundling.cli.demo import run_demo

        run_demo(
            out, parser=parser, demonstrations=demonstrations, held_out=held_out, again=again,
            images=images,
        )  # fmt: skip
    except KeyboardInterrupt:
        typer.echo("\nStopped. Nothing half-written is left; run it again to start over.", err=True)
        raise typer.Exit(130) from None
    except (GroundlingError, OSError) as error:
        if debug:
            raise
        typer.echo(f"Error: {_one_line(error)}", err=True)
        raise typer.Exit(1) from None


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f" {error.filename}" if error.filename else ""
        return f"{error.strerror}:{where}. Choose another folder with --out."
    return " ".join(str(error).split())


if __name__ == "__main__":
    app()
