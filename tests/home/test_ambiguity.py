"""Many generated texts: one of several is asked about, and a single thing is answered about."""

import itertools

import pytest

from groundling.home import Home
from groundling.home.agent import HomeAgent
from groundling.home.model import shipped_languages

# Two things of a kind, and texts that mean one of them without saying which.
SINGULAR = {
    "en": {
        "light": ("Copper {}", "Mushroom {}", ("lamp", "light"), (
            "turn on the {}", "switch the {} on", "turn off the {} please",
            "dim the {} to 20 percent", "could you turn the {} on",
        )),
        "fan": ("Copper {}", "Mushroom {}", ("fan",), (
            "turn on the {}", "switch the {} off", "start the {}",
        )),
        "lock": ("Copper {}", "Mushroom {}", ("door", "lock"), ("lock the {}", "unlock the {}")),
        "cover": ("Copper {}", "Mushroom {}", ("blind", "curtain"), (
            "open the {}", "close the {}", "please shut the {}",
        )),
    },
    "de": {"light": ("Kupfer {}", "Pilz {}", ("Lampe",), ("schalte die {} ein", "mach die {} aus"))
    },
    "fr": {"light": ("{} Cuivre", "{} Champi", ("lampe",), ("allume la {}", "éteins la {}"))},
    "es": {"light": ("{} Cobre", "{} Seta", ("lámpara",), ("enciende la {}", "apaga la {}"))},
    "nl": {"light": ("Koper {}", "Zwam {}", ("lamp",), ("zet de {} aan", "doe de {} uit"))},
    "pl": {"light": ("{} Miedź", "{} Grzyb", ("lampa",), ("włącz lampę", "wyłącz lampę"))},
    "it": {"light": ("{} Rame", "{} Fungo", ("lampada",), ("accendi la {}", "spegni la {}"))},
    "ar": {"light": ("{} نحاس", "{} فطر", ("مصباح",), ("شغل ال{}", "أطفئ ال{}"))},
}  # fmt: skip
STATES = {"light": "off", "fan": "off", "lock": "locked", "cover": "open"}
CASES = [
    (code, domain, noun, text.format(noun), (first.format(noun), second.format(noun)))
    for code, kinds in SINGULAR.items()
    for domain, (first, second, nouns, texts) in kinds.items()
    for noun, text in itertools.product(nouns, texts)
]


def home_of(code, domain, noun, names, state=""):
    known = {"blind": "blind", "curtain": "curtain"}
    attributes = {"device_class": known[noun]} if noun in known else {}
    return Home.from_data({
        "language": code,
        "entities": [
            {"id": f"{domain}.{n}", "name": name.title() if code == "en" else name,
             "state": state or STATES[domain], "attributes": attributes}
            for n, name in enumerate(names)
        ],
    })  # fmt: skip


@pytest.mark.parametrize(("code", "domain", "noun", "text", "names"), CASES)
def test_agent_asks_which_of_two_in_languages_that_mark_number(code, domain, noun, text, names):
    if code not in shipped_languages():
        pytest.skip("no model")
    for state in ("", {"light": "on", "fan": "on", "lock": "unlocked", "cover": "closed"}[domain]):
        reply = HomeAgent(home_of(code, domain, noun, names, state)).reply(text)
        assert (reply.kind, reply.changes) == ("ask", {})
        assert len(reply.options) == 2


NAMES = ("Desk", "Copper", "Nina's", "Left", "Big Old", "Kitchen", "Zorbo", "Blue")
ASKED = {
    ("light", "lamp"): ("is the {} on", "is the {} on?", "is the {} off", "did i leave the {} on"),
    ("light", "light"): ("is the {} on", "is the {} still on", "is the {} off?"),
    ("fan", "fan"): ("is the {} on", "is the {} running"),
    ("lock", "door"): ("is the {} locked", "is the {} unlocked?"),
    ("cover", "blind"): ("is the {} open", "is the {} closed?"),
    ("cover", "curtain"): ("is the {} open", "is the {} closed"),
}


@pytest.mark.parametrize(("kind", "texts"), ASKED.items())
@pytest.mark.parametrize("name", NAMES)
def test_agent_answers_about_the_only_thing_with_a_noun_in_its_name(kind, texts, name):
    domain, noun = kind
    home = home_of("en", domain, noun, [f"{name} {noun}"])
    agent = HomeAgent(home)
    for text in texts:
        agent.forget()
        reply = agent.reply(text.format(noun))
        assert (reply.kind, reply.changes) == ("answer", {}), text
        assert reply.text.startswith(("Yes", "No", f"{name} {noun}".title())), text


@pytest.mark.parametrize("address", ["computer", "hey zorbo", "blip, ", "okay zorbo"])
@pytest.mark.parametrize("question", ["is the desk lamp on", "is the front door locked"])
def test_agent_changes_nothing_if_a_question_begins_with_a_form_of_address(address, question):
    home = Home.from_data({"entities": [
        {"id": "light.desk", "name": "Desk Lamp", "state": "off"},
        {"id": "lock.front", "name": "Front Door", "state": "unlocked"},
    ]})  # fmt: skip
    reply = HomeAgent(home).reply(f"{address} {question}")
    assert reply.kind in ("answer", "decline")
    assert not reply.changes


@pytest.mark.parametrize(("on", "off"), [
    ("شغل", "أطفئ"), ("شغّل", "اطفئ"), ("أشعل", "إطفئ"), ("شغل", "أطفي"), ("اشعل", "اطفي"),
])  # fmt: skip
@pytest.mark.parametrize("name", ["Lumo", "Vesta", "مصباح القراءة"])
def test_agent_reads_arabic_letters_in_all_their_spellings(on, off, name):
    for verb, before, after in ((on, "off", "on"), (off, "on", "off")):
        home = Home.from_data({
            "language": "ar", "entities": [{"id": "light.a", "name": name, "state": before}],
        })  # fmt: skip
        assert HomeAgent(home).reply(f"{verb} {name}").changes == {"light.a": {"state": after}}
