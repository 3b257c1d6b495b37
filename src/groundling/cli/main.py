"""The command line: all commands and their options."""

# Nothing heavy is imported here, so that --help answers at once; commands import what they need.

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundling.cli import (
    corpora,
    evaluate,
    home,
    kernels,
    mcp,
    models,
    reproduce,
    serve,
    studio,
    world_commands,
)
from groundling.cli.common import DebugOption, folder_option, plainly

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
        Path, folder_option("--out", "-o", help="Folder for the pictures and the trained model.")
    ] = Path("demo"),
    parser: Annotated[
        str, typer.Option(help="Parser: default, chain, chain:LANGUAGE, spacy:NAME or conllu:PATH.")
    ] = "default",
    demonstrations: Annotated[
        int, typer.Option("--demonstrations", "-n", min=3, max=3000, help="How many to learn from.")
    ] = 300,
    held_out: Annotated[
        int, typer.Option(min=1, max=3000, help="How many unseen sentences and routes to score.")
    ] = 100,
    images: Annotated[
        Path | None,
        folder_option("--images", help="Folder that also gets the pictures of the README."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Train again even if a trained model is there.")
    ] = False,
    debug: DebugOption = False,
) -> None:
    """Learn from generated mazes, then follow and explain new instructions in an unseen one."""
    with plainly(debug, "Nothing half-written is left; run it again to start over."):
        from groundling.cli.demo import run_demo

        run_demo(
            out, parser=parser, demonstrations=demonstrations, held_out=held_out, again=again,
            images=images,
        )  # fmt: skip


app.command()(models.train)
app.command()(models.follow)
app.command()(models.explain)
app.command()(models.weights)
app.command()(models.diagnose)
app.command()(evaluate.evaluate)
app.command()(evaluate.tune)
app.command()(reproduce.reproduce)
app.command()(world_commands.new)
app.command()(world_commands.check)
app.command()(studio.studio)
app.command("compile")(kernels.compile_kernels)
app.command()(serve.serve)
app.command("mcp")(mcp.serve)
app.add_typer(corpora.app, name="corpora")
app.add_typer(home.app, name="home")


if __name__ == "__main__":
    app()
