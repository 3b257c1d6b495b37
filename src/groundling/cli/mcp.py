"""The `groundling mcp` command: a model as tools for language-model agents (MCP)."""

from __future__ import annotations

from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.common import command
from groundling.errors import GroundlingError, InstructionError
from groundling.limits import SAID_ACTIONS, SAID_CHARACTERS, SESSION_TURNS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from groundling.cli.stage import Stage
    from groundling.home.agent import HomeAgent
    from groundling.world.environment import Demonstration


@command()
def serve(
    model: Annotated[Path, typer.Argument(metavar="MODEL")],
    world: str | None = None,
    shown: list[str] | None = None,
    where: str | None = None,
    start: str | None = None,
) -> None:
    """Serve a model to language-model agents over standard input and output (MCP).

    The tools are follow, explain, describe and teach.

    Parameters
    ----------
    model
        Folder of a trained model.
    world
        Your own world, such as my_world.py:Kitchen.
    shown
        Demonstration file of the world, required by `teach`; may be repeated.
    where
        Name of the map or puzzle to act in.
    start
        Initial state.
    """
    from rich.console import Console

    from groundling.cli.stage import set_stage

    stage = set_stage(
        model, Console(stderr=True), where=where, start=start, world=world, shown=shown or ()
    )
    known: list[Demonstration] = []
    if shown:
        from groundling.data.own import open_world

        known = list(open_world(stage.note.task, shown).listed)
    world_server(stage, known).run()


def world_server(stage: Stage, known: Sequence[Demonstration]) -> Any:
    """Return a server whose tools follow instructions in a model's scene.

    `known` holds the training demonstrations of the model, which `teach` needs.
    """
    server = _server("groundling", "Follow plain-language instructions in a fixed world, exactly.")
    scene = stage.scene
    said: list[str] = []

    def follow(text: str) -> dict[str, Any]:
        """Carry out an instruction, starting from the final state of the previous one."""
        SESSION_TURNS.check(len(said) + 1, InstructionError, "A session")
        plan = stage.follow([*said, _said(text)])[-1]
        if plan.understood:
            said.append(text)
        return {
            "actions": [str(each) for each in plan.actions],
            "state": str(plan.end),
            "confidence": plan.confidence,
            "understood": plan.understood,
        }

    def explain(text: str) -> str:
        """Report the words that cause each action of an instruction, without acting."""
        return str(stage.follow([*said, _said(text)])[-1].explain())

    def describe() -> dict[str, Any]:
        """Describe the current state and list the actions that are possible in it."""
        state = stage.follow(said)[-1].end if said else scene.start
        return {
            "state": str(state),
            "actions": [str(each) for each in scene.environment.actions(state)],
            "said": list(said),
        }

    def teach(text: str, actions: list[str]) -> str:
        """Teach the actions that an instruction means; use the names that `describe` lists."""
        return _taught(stage, known, said, _said(text), actions)

    return _with_tools(server, follow, explain, describe, teach)


def _taught(
    stage: Stage,
    known: Sequence[Demonstration],
    said: Sequence[str],
    text: str,
    actions: Sequence[str],
) -> str:
    from groundling.errors import SettingError
    from groundling.world.environment import Demonstration

    if not known:
        raise SettingError(
            "`teach` requires the model's training demonstrations. Restart the server with --shown "
            "FILE."
        )
    SAID_ACTIONS.check(len(actions), InstructionError, "A demonstration")
    scene = stage.scene
    state = stage.follow(said)[-1].end if said else scene.start
    begin, done = state, []
    for name in actions:
        offered = {str(each): each for each in scene.environment.actions(state)}
        if name not in offered:
            raise SettingError(
                f"`actions` must be possible in this order; {name!r} is impossible at its place. "
                "Use names that `describe` lists."
            )
        done.append(offered[name])
        state = scene.environment.step(state, offered[name])
    new = Demonstration(text, scene.environment, begin, done, name=text)
    stage.follower.teach([new], known=known, check=False)
    return f"{text!r} now means: {', '.join(actions)}."


def home_server(agent: HomeAgent, path: Path) -> Any:
    """Return a server whose tools act in a home: follow, explain, describe and teach."""
    server = _server(
        "groundling home",
        "Control a smart home and ask about its state in plain language. Replies are exact: "
        "kind is act, ask, answer or decline; nothing is invented.",
    )

    def follow(text: str, area: str = "") -> dict[str, Any]:
        """Carry out a command or answer a question; `area` is the speaker's area id."""
        return agent.reply(text, area=area).to_dict()

    def explain(text: str, area: str = "") -> str:
        """Report the words that cause each command of a text, without acting."""
        return agent.explain(text, area=area)

    def describe() -> dict[str, Any]:
        """List the areas and the entities of the home with their current states."""
        return agent.describe()

    def teach(phrase: str, does: list[str]) -> str:
        """Teach a phrase of the household as a shortcut for one or more texts."""
        from groundling.cli.home import check_understood
        from groundling.home.agent import HomeAgent
        from groundling.home.home import read_home, teach_phrase

        # check with a new agent, so that the states of this one stay unchanged
        check_understood(HomeAgent(agent.home, agent.model), does)
        written = teach_phrase(path, phrase, does)
        agent.move(read_home(path))
        return f"{phrase!r} now means: {'; '.join(does)} (in {written.name})."

    return _with_tools(server, follow, explain, describe, teach)


def _said(text: str) -> str:
    SAID_CHARACTERS.check(len(text), InstructionError, "A text")
    return text


def _with_tools(server: Any, *tools: Callable[..., Any]) -> Any:
    """Return a decorator that adds a function to a server as a tool.

    Error messages of the function are passed on to the agent that calls the tool.
    """
    tool_error = import_module("mcp.server.mcpserver.exceptions").ToolError
    for tool in tools:

        def told(*given: Any, _tool: Callable[..., Any] = tool, **named: Any) -> Any:
            try:
                return _tool(*given, **named)
            except GroundlingError as error:
                raise tool_error(str(error)) from error

        server.add_tool(wraps(tool)(told))
    return server


def _server(name: str, instructions: str) -> Any:
    try:
        made = import_module("mcp.server").MCPServer
    except ModuleNotFoundError as error:
        raise GroundlingError(
            "A server for agents requires the package mcp, which is not installed. Run "
            "`pip install 'groundling[mcp]'`."
        ) from error
    return made(name, instructions=instructions)
