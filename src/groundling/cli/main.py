"""The `groundling` program: all commands and their options."""

# Commands import their dependencies when they run, so that --help is fast.

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
from groundling.cli.common import FolderOption, command

app = typer.Typer(
    name="groundling",
    help="Teach an agent to follow plain-language instructions from demonstrations.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # panels would take most of the time of --help
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
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
@command("No partial files were left behind. Run the command again to start over.")
def demo(
    out: FolderOption = Path("demo"),
    parser: str = "default",
    demonstrations: Annotated[int, typer.Option(min=3, max=3000)] = 300,
    held_out: Annotated[int, typer.Option(min=1, max=3000)] = 100,
    again: bool = False,
) -> None:
    """Train on a generated world, then follow instructions in an unseen one.

    Parameters
    ----------
    out, -o
        Folder for the pictures and the trained model.
    parser
        Parser: default, chain, chain:LANGUAGE, spacy:NAME or conllu:PATH.
    demonstrations, -n
        Number of training demonstrations.
    held_out
        Number of held-out sentences and routes.
    again
        Train again even if the folder has a trained model.
    """
    from groundling.cli.demo import run_demo

    run_demo(out, parser=parser, demonstrations=demonstrations, held_out=held_out, again=again)


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
