"""Models of other languages: each switches a lamp on and off, and answers a question."""

import pytest

from groundling.home import Home
from groundling.home.agent import HomeAgent
from groundling.home.locales import LANGUAGES
from groundling.home.model import shipped_languages

LAMP = {"id": "light.lumo", "name": "Lumo"}
SAID = {
    "en": ("turn on Lumo", "turn off Lumo", "is Lumo on?"),
    "de": ("schalte Lumo ein", "schalte Lumo aus", "ist Lumo an?"),
    "fr": ("allume Lumo", "éteins Lumo", "est-ce que Lumo est allumé ?"),
    "es": ("enciende Lumo", "apaga Lumo", "¿está Lumo encendido?"),
    "nl": ("zet Lumo aan", "zet Lumo uit", "staat Lumo aan?"),
    "pl": ("włącz Lumo", "wyłącz Lumo", "czy Lumo jest włączone?"),
    "it": ("accendi Lumo", "spegni Lumo", "Lumo è acceso?"),
    "ar": ("شغل Lumo", "أطفئ Lumo", "هل Lumo شغال؟"),
    "ko": ("Lumo 켜", "Lumo 꺼", "Lumo 켜져있어?"),
}


def test_languages_that_are_shipped_have_tables():
    assert {"en", "de"} <= set(shipped_languages()) <= set(LANGUAGES)
    assert set(LANGUAGES) == set(SAID)


@pytest.mark.parametrize("code", shipped_languages())
def test_language_switches_a_lamp(code):
    on, off, question = SAID[code]
    for text, before, after in ((on, "off", "on"), (off, "on", "off")):
        home = Home.from_data({"language": code, "entities": [{**LAMP, "state": before}]})
        assert HomeAgent(home).reply(text).changes == {"light.lumo": {"state": after}}
    asked = HomeAgent(home).reply(question)
    assert not asked.changes
