"""The `groundling home` commands: reply, teach a phrase, train and serve."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.common import (
    CorporaOption,
    JsonFileOption,
    check_writable,
    command,
    whole,
    without_controls,
)
from groundling.cli.studio import HostOption, PortOption, TokenOption, need_server

if TYPE_CHECKING:
    from groundling.home.agent import HomeAgent, HomeReply


app = typer.Typer(
    help="Control a smart home and ask about its state, offline.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
HomeArgument = Annotated[
    Path, typer.Argument(metavar="HOME", help="YAML file, or folder exported from Home Assistant.")
]
ModelOption = Annotated[
    Path | None, typer.Option(help="Folder of a model. Default: the shipped one.")
]
LanguageOption = Annotated[
    str, typer.Option(help="Code of the language. Default: the home's, or en.")
]


@app.command()
@command("Nothing was changed.")
def reply(
    home: Annotated[Path | None, typer.Argument(metavar="[HOME]")] = None,
    text: Annotated[list[str] | None, typer.Argument()] = None,
    area: str = "",
    file: Path | None = None,
    json_file: JsonFileOption = None,
    model: ModelOption = None,
    language: LanguageOption = "",
) -> None:
    """Reply to a text: act, ask, answer or decline, without storing anything.

    Without a text, lines are read from the terminal, and the agent remembers the conversation.

    Parameters
    ----------
    home
        A YAML file, or a folder with the registries of Home Assistant.
    text
        A command or question.
    area
        Id of the area that the speaker is in.
    file
        File of requests as JSON Lines, each with its home.
    """
    from groundling.home.home import HomeError

    if (home is None) == (file is None):
        got = "neither" if home is None else "both"
        raise HomeError(f"Either a home or --file must be given; got {got}. Pass one of them.")
    check_writable(json_file)
    if file is not None:
        bad: list[str] = []
        _write(_replies(file, model, language, bad), json_file)
        if bad:
            raise HomeError(
                f"{len(bad)} request{'s' * (len(bad) != 1)} could not be read and got the reply "
                f"`decline`; the others were answered. {bad[0]}"
            )
        return
    assert home is not None
    agent = _agent(home, model, language)
    lines = [" ".join(text)] if text else _typed()
    replies = (agent.reply(line, area=area) for line in lines)
    if json_file is not None:
        _write(replies, json_file)
        return
    for each in replies:
        _show(each)


@app.command()
@command()
def teach(
    home: HomeArgument,
    phrase: Annotated[str, typer.Argument()],
    does: Annotated[list[str], typer.Argument()],
) -> None:
    """Teach a phrase, such as "movie time", and its meaning.

    The phrase is stored in a file next to the home (my_home.phrases.yaml); the home itself is not
    changed.

    Parameters
    ----------
    phrase
        The phrase that the household uses.
    does
        Meaning of the phrase: one or more texts that the agent understands.
    """
    from groundling.home.home import read_home, teach_phrase

    check_understood(_agent(home, None, ""), does)
    path = teach_phrase(home, phrase, does)
    count = len(read_home(home).phrases)
    typer.echo(f"{phrase!r} now means: {'; '.join(does)}.")
    typer.echo(f"{path} has {count} phrase{'s' * (count != 1)}.")


@app.command()
@command("No model was written.")
def train(out: Path, language: str = "en", corpora: CorporaOption = None) -> None:
    """Train the model of a language on the corpus of Home Assistant sentences.

    The held-out fifth is the same as in `groundling evaluate home`, so that the scores of that
    command apply to the model.

    Parameters
    ----------
    out, -o
        Folder for the model.
    language
        Code of the language, as in the corpus.
    """
    import time

    from groundling.home.home_trainer import Training, fit

    examples = Training.of(corpora, language).examples
    typer.echo(f"Learning from {len(examples)} sentences …")
    began = time.process_time()
    trained = fit(examples, language)
    place = trained.save(out)
    size = sum(each.stat().st_size for each in place.rglob("*") if each.is_file())
    seconds = time.process_time() - began
    typer.echo(f"{place}: {size / 1e6:.1f} MB after {seconds:.0f} s of processor time.")


@app.command("mcp")
@command()
def serve(home: HomeArgument, model: ModelOption = None, language: LanguageOption = "") -> None:
    """Serve a home to language-model agents over standard input and output (MCP)."""
    from groundling.cli.mcp import home_server

    home_server(_agent(home, model, language), home).run()


@app.command("serve")
@command("Nothing was changed.")
def serve_http(
    home: HomeArgument,
    model: ModelOption = None,
    language: LanguageOption = "",
    port: PortOption = None,
    host: HostOption = "127.0.0.1",
    token: TokenOption = None,
) -> None:
    """Serve a home over HTTP: POST /v1/reply with `text`, `area` and `states`."""
    need_server()
    from groundling.cli.home_service import make_home_service
    from groundling.studio.server import Address, run

    address = Address(host, port, token)

    def ready(url: str) -> None:
        typer.echo(f"Serving {home} at {url}")
        if address.token:
            typer.echo(f"Token: {address.token}")

    app = make_home_service(_agent(home, model, language), token=address.token)
    run(app, address, ready=ready)


def check_understood(agent: HomeAgent, does: Sequence[str]) -> None:
    """Raise `HomeError` unless the agent understands every text that defines a phrase."""
    from groundling.home.home import HomeError
    from groundling.limits import PHRASE_TEXTS

    PHRASE_TEXTS.check(len(does), HomeError, "A phrase")
    for each in does:
        found = agent.reply(each)
        if found.kind not in ("act", "answer"):
            raise HomeError(
                f"Each text in the meaning of a phrase must be a clear request; got {each!r:.80}. "
                f"Reword this text. The home replied: {found.text}"
            )


# ---- replies --------------------------------------------------------------------------------


def _agent(home: Path, model: Path | None, language: str) -> HomeAgent:
    from groundling.home.agent import HomeAgent
    from groundling.home.home import read_home
    from groundling.home.model import HomeModel, load_model

    read = read_home(home)
    code = language or read.language or "en"
    return HomeAgent(read, load_model(code) if model is None else HomeModel.load(model, code))


def _replies(path: Path, model: Path | None, language: str, bad: list[str]) -> Iterator[HomeReply]:
    """Yield the reply to each request of a file; requests are independent.

    A request that cannot be read is declined, and the reason is appended to `bad`.
    """
    from groundling.data.lines import read_lines
    from groundling.errors import DemonstrationError, GroundlingError
    from groundling.home.agent import HomeReply
    from groundling.home.home import HomeError

    agents: dict[str, HomeAgent] = {}
    for number, line in read_lines(path):
        where = f"{path}, line {number}"
        if number == 1 and isinstance(line, DemonstrationError):
            raise HomeError(f"{where}: {line}") from line
        try:
            found = _reply_to(line, agents, model, language)
        except GroundlingError as error:
            bad.append(f"{where}: {error}")
            found = HomeReply("decline", bad[-1])
        yield found


def _reply_to(
    line: bytes | Exception, agents: dict[str, HomeAgent], model: Path | None, language: str
) -> HomeReply:
    from groundling.data.lines import parse_json
    from groundling.errors import DemonstrationError
    from groundling.home.home import HomeError

    try:
        if isinstance(line, Exception):
            raise line
        request = parse_json(line.decode("utf-8").strip(), "Write one object per line.")
    except (DemonstrationError, UnicodeDecodeError) as error:
        raise HomeError(f"The request must be JSON. {error}") from error
    home = _text_of(request, "home")
    if home not in agents:
        while len(agents) >= _MOST_HOMES:
            del agents[next(iter(agents))]
        agents[home] = _agent(Path(home), model, language)
    return _fresh(agents[home], request)


_MOST_HOMES = 8  # maximum number of homes kept in memory


def _fresh(agent: HomeAgent, request: Mapping[str, Any]) -> HomeReply:
    from groundling.home.home import HomeError

    states, area = request.get("states"), request.get("area")
    if states is not None and not isinstance(states, dict):
        raise HomeError(
            f"`states` must be a mapping from entity ids to states; got {type(states).__name__}."
        )
    if area is not None and not isinstance(area, str):
        raise HomeError(f"`area` must be the id of an area or null; got {area!r}.")
    agent.forget()
    return agent.reply(_text_of(request, "text"), area=area, states=states)


def _text_of(request: Any, key: str) -> str:
    from groundling.home.home import HomeError

    value = request.get(key) if isinstance(request, dict) else None
    if not isinstance(value, str):
        raise HomeError(
            f"The request must be a mapping with the strings `home` and `text`; got "
            f"{str(value)[:60]!r} for `{key}`."
        )
    return value


def _typed() -> Iterator[str]:
    """Yield lines from the terminal, up to an empty line or the end of the input."""
    is_shown = sys.stdin.isatty()
    while True:
        if is_shown:
            typer.echo("> ", nl=False)
        line = sys.stdin.readline()
        if not line.strip():
            return
        yield line.strip()


def _write(replies: Iterable[HomeReply], path: Path | None) -> None:
    from groundling.files import write_atomically

    lines = (whole(json.dumps(each.to_dict(), ensure_ascii=False)) for each in replies)
    if path is None or str(path) == "-":
        for line in lines:
            typer.echo(without_controls(line))
        return
    write_atomically(path, "".join(f"{line}\n" for line in lines))


def _show(found: HomeReply) -> None:
    typer.echo(without_controls(found.text))
    for id_, new in found.changes.items():
        said = [new["state"]] if "state" in new else []
        said += [f"{name} {value}" for name, value in new.get("attributes", {}).items()]
        typer.echo(without_controls(f"  {id_}: {', '.join(map(str, said))}"))
