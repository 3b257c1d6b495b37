"""Languages of homes: numbers, units, colours and compound words of each language."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from groundling.language.languages import ENGLISH, NEUTRAL, Language

COMPOUNDS = frozenset({"german", "dutch"})
"""Languages that write the words for an area and a device as one word (*Küchenlicht*)."""
ELISIONS = frozenset({"french", "italian"})
"""Languages that attach an article to a word with an apostrophe (*l'entrée*)."""

ARTICLES: Mapping[str, tuple[str, ...]] = {
    "arabic": ("وال", "بال", "فال", "كال", "لال", "لل", "ال")
}
"""Articles, with prepositions, that are prefixes of a word; they are removed before reading."""
PREFIXES: Mapping[str, tuple[str, ...]] = {"arabic": ("ل", "ب", "و")}
"""Prepositions and conjunctions that are prefixes of a word."""

PLACES: Mapping[str, frozenset[str]] = {
    "english": frozenset((
        "room", "floor", "level", "area", "space", "house", "home", "place", "side", "upper",
        "lower", "main", "the", "of", "my", "our",
    ))
}  # fmt: skip
"""Generic words in names of places (*room*); without a table, only full names are found."""

SINGULARS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "english": "light lamp bulb fixture blind curtain cover shutter window door fan lock gate "
        "shade awning switch outlet plug speaker thermostat player drape valve vacuum robot mower "
        "radiator timer socket",
        "german": "lampe leuchte glühbirne jalousie rollo gardine vorhang markise tür steckdose",
        "french": "lampe ampoule volet rideau store porte fenêtre ventilateur prise serrure",
        "spanish": "lámpara bombilla persiana cortina toldo puerta ventana ventilador enchufe "
        "cerradura",
        "dutch": "lamp gordijn rolluik jaloezie raam deur stopcontact slot",
        "polish": "lampa lampę lampka lampkę żarówka żarówkę roleta roletę żaluzja żaluzję "
        "zasłona zasłonę okno wentylator gniazdko zamek",
        "italian": "lampada lampadina tapparella tenda porta finestra ventilatore presa serratura",
        "arabic": "مصباح ستاره نافذه مروحه باب قفل",
    }.items()
}
"""Singular nouns for kinds, without nouns for a substance (*das Licht*) and those whose plural is
the same; without a table, number is ignored."""
NEGATIONS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "english": (
        ("don't",),
        ("don’t",),
        ("dont",),
        ("do", "not"),
        ("please", "don't"),
        ("please", "do", "not"),
        ("please", "never"),
        ("never",),
    ),
    "german": (("nicht",),),
    "french": (("ne",), ("n",)),
    "spanish": (("no",),),
    "italian": (("non",),),
    "polish": (("nie",),),
}
"""First words of negative commands."""
INTERROGATIVES: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "english": "is are was were isn't aren't did does has what what's which who who's whose "
        "where where's when why how how's",
        "german": "ist sind war waren wie was wer wo wann warum wieso welche welcher welches "
        "welchen wieviel wieviele gibt läuft steht brennt leuchtet hat",
        "french": "est sont quel quelle quels quelles combien où quand pourquoi qui",
        "spanish": "está están hay cuál cuáles qué cuánto cuánta cuántos cuántas cómo dónde cuándo "
        "quién",
        "dutch": "is zijn hoe wat welke welk waar wanneer wie waarom hoeveel staat staan brandt "
        "branden wordt worden",
        "polish": "czy jaki jaka jakie ile gdzie kiedy kto co który która które dlaczego",
        "italian": "è quale quali quanto quanta quanti quante come dove quando chi cosa perché",
        "arabic": "هل ماذا كم اين متي لماذا",
    }.items()
}
"""First words of questions; a text that begins like this changes nothing."""
DEMONSTRATIVES: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "english": "this", "german": "dieser diesem diesen", "french": "ce cet cette",
        "spanish": "esta este", "dutch": "deze dit", "polish": "tym tej ten", "korean": "이",
        "italian": "questa questo", "arabic": "هذه هذا",
    }.items()
}  # fmt: skip
"""Words before a place that mean the speaker's own place (*this room*)."""
REQUESTS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    name: tuple(tuple(each.split()) for each in phrases.split(","))
    for name, phrases in {
        "english": "how about,what about,what if,why don't,why not,is it possible,are you able,"
        "is there a way",
        "german": "wie wäre,wie wärs,wie wär's",
        "french": "est ce que tu peux,est ce que vous pouvez",
        "polish": "czy możesz,czy mógłbyś,czy mogłabyś,czy możemy",
        "arabic": "هل يمكنك,هل تستطيع,هل بامكانك,هل ممكن",
    }.items()
}
"""First words of polite commands that have the form of a question."""
DELAYS: Mapping[str, tuple[str, ...]] = {
    "english": ("in {} minutes", "after {} minutes", "{} minutes from now"),
    "german": ("in {} minuten", "nach {} minuten"),
    "french": ("dans {} minutes", "après {} minutes"),
    "spanish": ("en {} minutos", "dentro de {} minutos"),
    "dutch": ("over {} minuten", "na {} minuten"),
    "polish": ("za {} minut", "po {} minut"),
    "italian": ("tra {} minuti", "fra {} minuti"),
    "arabic": ("بعد {} دقائق",),
    "korean": ("{} 분 후에",),
}
"""Phrases that delay a command; `{}` stands for a number of minutes."""
OTHERS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "english": "other another", "german": "andere anderen anderes anderer", "french": "autre",
        "spanish": "otro otra", "dutch": "andere", "polish": "drugi drugą druga drugie inny inną",
        "italian": "altro altra", "arabic": "اخر اخري ثاني ثانيه", "korean": "다른",
    }.items()
}  # fmt: skip
"""Words for *other*, which refer to the entity that the previous text did not mean."""
PRONOUNS: Mapping[str, frozenset[str]] = {
    "english": frozenset(("it", "its", "that", "them", "those", "these", "they", "this"))
}
"""Pronouns; a text with a noun for a kind and no pronoun starts a new topic."""
FILLERS: Mapping[str, frozenset[str]] = {
    "english": frozenset(("hey", "hi", "hello", "ok", "okay", "please", "so", "well", "and"))
}
"""Words that may come before a question."""
SYNONYMS: Mapping[str, Mapping[str, str]] = {
    "english": {
        "television": "tv", "telly": "tv", "tele": "tv", "televisions": "tvs",
        "refrigerator": "fridge", "couch": "sofa", "aircon": "ac",
    }
}  # fmt: skip
"""Synonyms of nouns in names and texts, mapped to the most common noun."""
DETERMINERS: Mapping[str, frozenset[str]] = {"english": frozenset(("the", "my", "our", "your"))}
"""Words before names that do not identify an entity."""
IMPERATIVES: Mapping[str, frozenset[str]] = {
    "english": frozenset((
        "turn", "switch", "shut", "put", "set", "open", "close", "lock", "unlock", "start", "stop",
        "pause", "resume", "play", "dim", "brighten", "run", "make", "bring", "raise", "lower",
        "kill", "mute", "unmute", "speed", "slow", "crank", "fire", "activate", "enable", "disable",
        "send", "cool", "warm", "heat", "light", "draw", "pull", "roll", "toggle", "skip", "get",
        "could you", "can you", "would you", "will you", "let's", "increase", "decrease", "reduce",
        "trigger", "change", "cut", "extinguish", "secure", "bolt",
    ))
}  # fmt: skip
"""First words of commands."""
STATEMENTS: Mapping[str, Sequence[str]] = {
    "english": (
        "i'm", "i am", "we're", "we are", "it's", "it is", "he's", "she's", "they're", "there's",
        "there is", "nobody", "someone", "somebody", "everyone", "everybody", "guests", "i can't",
        "i have", "i've", "we have", "the kids", "the baby", "the dog", "the sun", "the air",
        "my wife", "my husband", "our guests", "dinner", "company", "good night", "goodnight",
        "good morning", "reboot", "i don't", "i just", "we just", "time",
    )
}  # fmt: skip
"""First words of statements, which are only the reason if there is a command beside them."""
SUBJECTS: Mapping[str, frozenset[str]] = {
    "english": frozenset((
        "to", "not", "don't", "can't", "can", "could", "will", "would", "should", "must", "i",
        "you", "we", "they", "he", "she", "who", "that", "the", "a", "an", "my", "our", "too",
        "very", "or",
    )),
}  # fmt: skip
"""Words after which a verb is no command (*I want to open the window*)."""
_KEEP = r"(?:leave|keep) (?P<kept>(?:(?! (?:but|and) |,).)+?)"
_AS_IS = r" (?:turned )?(?:on|off|open|closed|shut|locked|running|alone|as (?:it|they) (?:is|are))"
_MANY = r"(?:all|every\w*|lights|lamps|fans|blinds|curtains|shades|shutters|doors|speakers)"
REWRITES: Mapping[str, Sequence[tuple[re.Pattern[str], str]]] = {
    "arabic": [(re.compile("[\u064b-\u0652\u0640]"), "")],  # vowel signs and lengthening
    "english": [
        (re.compile(pattern, re.IGNORECASE), plain)
        for pattern, plain in (
            (r"\ba couple(?: of)?(?= (?:degrees|percent|minutes|hours|seconds))", "2"),
            (r"\ba fifth\b", "20 percent"),
            (r"(?<=\w),? (?:thanks|thank you)(?: (?:so|very) much| a lot)?[.!]*$", ""),
            (rf"^(?:please )?{_KEEP}(?:{_AS_IS})?,? (?:but|and) (?P<do>.*?)(?:all )?(?:the )?other "
             r"(?P<kind>\w+s)\b(?P<rest>.*)$", r"\g<do>all \g<kind>\g<rest> except \g<kept>"),
            (rf"^(?:please )?{_KEEP}(?:{_AS_IS})?,? (?:but|and) (?P<do>.*?)"
             r"(?:everything else|(?:all )?the rest)\b(?P<rest>.*)$",
             r"\g<do>everything\g<rest> except \g<kept>"),
            (rf"^(?:please )?{_KEEP}{_AS_IS},? (?:but|and) (?P<do>.*)$", r"\g<do>"),
            (rf"^(?P<do>.*\b{_MANY}\b.*?),? (?:but|and|just|only) {_KEEP}{_AS_IS}$",
             r"\g<do> except \g<kept>"),
            (rf"^(?P<do>.+?),? (?:but|and) {_KEEP}{_AS_IS}$", r"\g<do>"),
        )
    ]
}  # fmt: skip
"""Patterns of phrases, with plainer phrases of the same meaning that replace them."""
QUANTIFIERS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "english": "all every each everything both any some more no there lighting",
        "german": "alle allen alles sämtliche jede jeden jedes beide überall",
        "french": "tous toutes tout toute chaque partout",
        "spanish": "todos todas todo toda cada ambos ambas",
        "dutch": "alle al alles elke iedere beide overal",
        "polish": "wszystkie wszystkich wszystko każdy każdą oba obie wszędzie",
        "italian": "tutti tutte tutto tutta ogni entrambi entrambe",
        "arabic": "كل جميع كافه",
        "korean": "모든 모두 전부 다",
    }.items()
}
"""Words with which a singular means several entities or a substance (*every light*)."""


def is_singular(words: Sequence[str], language: Language) -> bool:
    """Return whether a text names a kind in the singular, without *every* or *all*.

    >>> is_singular("turn on the light".split(), ENGLISH)
    True
    >>> is_singular("turn on every light".split(), ENGLISH)
    False
    """
    nouns = SINGULARS.get(language.name, frozenset())
    pairs = zip(words, (*words[1:], ""), strict=True)
    said = {word for word, after in pairs if after != "up"}  # as in *light up the kitchen*
    plural = any(word not in nouns and language.singular(word) in nouns for word in words)
    several = QUANTIFIERS.get(language.name, frozenset()) & set(words)
    return bool(nouns & said) and not plural and not several


def _numbers(words: str, start: int = 1, step: int = 1) -> dict[str, float]:
    """Map number words to numbers; words are listed in ascending order.

    Alternatives are separated by `|`.

    >>> _numbers("un|une deux")
    {'un': 1.0, 'une': 1.0, 'deux': 2.0}
    """
    return {
        word: float(start + step * place)
        for place, words_ in enumerate(words.split())
        for word in words_.split("|")
    }


def _units(
    seconds: str, minutes: str, hours: str, percent: str, degrees: str
) -> Mapping[str, tuple[str, float]]:
    found: dict[str, tuple[str, float]] = {
        "%": ("percent", 1.0),
        "°": ("degree", 1.0),
        "°c": ("degree", 1.0),
    }
    sizes = (
        (seconds, "second", 1.0), (minutes, "second", 60.0), (hours, "second", 3600.0),
        (percent, "percent", 1.0), (degrees, "degree", 1.0), ("kelvin", "kelvin", 1.0),
    )  # fmt: skip
    for words, unit, size in sizes:
        found |= dict.fromkeys(words.split(), (unit, size))
    return found


_COLOURS = [
    "white",
    "black",
    "red",
    "orange",
    "yellow",
    "green",
    "blue",
    "purple",
    "brown",
    "pink",
    "turquoise",
]


def _colours(words: str) -> dict[str, str]:
    """Map words for colours to English names; words are in the order of `_COLOURS`."""
    rows = zip(_COLOURS, words.split(), strict=True)
    return {word: colour for colour, row in rows for word in row.split("|")}


_ENGLISH = replace(
    ENGLISH,
    numerals={word: size for word, size in ENGLISH.numerals.items() if word != "both"},
    joints=(*ENGLISH.joints, "then", "plus"),
    exceptions=(*ENGLISH.exceptions, "apart"),
    units={**ENGLISH.units, "k": ("kelvin", 1.0)},
    fractions={**ENGLISH.fractions, "third": 1 / 3, "halfway": 0.5},
)
_GERMAN = Language(
    "german",
    numerals={
        **_numbers(
            "ein|eins|eine|einen|einer zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn"
        ),
        **_numbers(
            "zwanzig dreißig|dreissig vierzig fünfzig sechzig siebzig achtzig neunzig hundert",
            20,
            10,
        ),
    },
    units=_units(
        "sekunde sekunden",
        "minute minuten minütigen minütige",
        "stunde stunden stündigen",
        "prozent",
        "grad celsius",
    ),
    fractions={"halbe": 0.5, "halben": 0.5, "halb": 0.5},
    articles=("eine", "einer", "ein"),
    joints=("und", "dann"),
    exceptions=("außer", "ausser", "bis"),
    colours=_colours(
        "weiß|weiss schwarz rot orange gelb grün blau violett|lila braun rosa|pink türkis"
    ),
    plurals=(("en", "e"), ("er", ""), ("n", ""), ("e", ""), ("s", "")),
)
_FRENCH = Language(
    "french",
    numerals={
        **_numbers(
            "un|une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
        ),
        **_numbers("vingt trente quarante cinquante soixante", 20, 10),
        "cent": 100,
    },
    units=_units(
        "seconde secondes sec s",
        "minute minutes min mn",
        "heure heures h",
        "pourcent pourcents",
        "degré degrés celsius",
    ),
    fractions={"demi": 0.5, "demie": 0.5, "moitié": 0.5},
    articles=("une", "un"),
    joints=("et", "puis"),
    exceptions=("sauf", "excepté", "hormis"),
    colours=_colours(
        "blanc|blanche noir|noire rouge orange jaune vert|verte bleu|bleue violet|violette|mauve marron|brun rose turquoise"
    ),
    plurals=(("aux", "al"), ("x", ""), ("s", "")),
)
_SPANISH = Language(
    "spanish",
    numerals={
        **_numbers(
            "un|una|uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"
        ),
        **_numbers(
            "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien", 20, 10
        ),
    },
    units=_units(
        "segundo segundos",
        "minuto minutos min",
        "hora horas h",
        "porciento",
        "grado grados celsius",
    ),
    fractions={"media": 0.5, "medio": 0.5, "mitad": 0.5},
    articles=("una", "un"),
    joints=("y", "e", "luego"),
    exceptions=("excepto", "salvo", "menos"),
    colours=_colours(
        "blanco negro rojo naranja|anaranjado amarillo verde azul lila|morado|púrpura marrón|café rosa|rosado turquesa"
    ),
    plurals=(("es", ""), ("s", "")),
)
_DUTCH = Language(
    "dutch",
    numerals={
        **_numbers(
            "een|één twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien"
        ),
        **_numbers(
            "twintig dertig veertig vijftig zestig zeventig tachtig negentig honderd", 20, 10
        ),
    },
    units=_units(
        "seconde seconden secondes",
        "minuut minuten minuutje minuutjes",
        "uur uren uurtje uurtjes",
        "procent",
        "graad graden celsius",
    ),
    fractions={"half": 0.5, "halve": 0.5, "halfuur": 0.5},
    articles=("een",),
    joints=("en", "dan"),
    exceptions=("behalve", "uitgezonderd"),
    colours=_colours("wit zwart rood oranje geel groen blauw paars bruin roze turquoise"),
    plurals=(("en", ""), ("n", ""), ("s", "")),
)
_POLISH = Language(
    "polish",
    numerals={
        **_numbers(
            "jeden|jedna|jedną dwa|dwie trzy cztery pięć sześć siedem osiem dziewięć dziesięć"
        ),
        **_numbers(
            "dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt", 20, 10
        ),
    },
    units=_units(
        "sekunda sekundy sekund sekundę sekundowy sekundowym",
        "minuta minuty minut minutę minutowy minutowym minutowego",
        "godzina godziny godzin godzinę godzinny godzinnym godzinnego",
        "procent procenta",
        "stopień stopnie stopni celsjusza",
    ),
    fractions={"pół": 0.5},
    joints=("i", "oraz", "potem"),
    exceptions=("oprócz", "poza"),
    colours=_colours(
        "biel|biały|biało|białe|białą czerń|czarny|czarno|czarne czerwień|czerwony|czerwono|czerwone pomarańcz|pomarańczowy|pomarańczowo|pomarańczowe "
        "żółty|żółto|żółte zieleń|zielony|zielono|zielone niebieski|niebiesko|niebieskie fiolet|fioletowy|fioletowo|fioletowe brąz|brązowy|brązowo|brązowe "
        "róż|różowy|różowo|różowe turkus|turkusowy|turkusowo|turkusowe"
    ),
    plurals=tuple(
        (ending, "")
        for ending in [
            *("ami", "ach", "ego", "emu", "iej", "ych", "ymi", "iem", "ów", "ej", "ym", "om", "em"),
            *("ie", "ia", "ię", "ią", "iu", "io", "ę", "ą", "y", "a", "e", "i", "u", "o"),
        ]
    ),
)
_ITALIAN = Language(
    "italian",
    numerals={
        **_numbers(
            "un|uno|una due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici"
        ),
        **_numbers(
            "venti trenta quaranta cinquanta sessanta settanta ottanta novanta cento", 20, 10
        ),
    },
    units=_units(
        "secondo secondi", "minuto minuti min", "ora ore", "percento", "grado gradi celsius"
    ),
    fractions={"mezza": 0.5, "mezzo": 0.5, "metà": 0.5},
    articles=("una", "un"),
    joints=("e", "poi"),
    exceptions=("tranne", "eccetto", "salvo"),
    colours=_colours("bianco nero rosso arancione giallo verde blu viola marrone rosa turchese"),
    plurals=(("i", "o"), ("e", "a")),
)
_ARABIC = Language(
    "arabic",
    numerals={
        **_numbers(
            "واحد|واحدة اثنين|اثنان ثلاثة|ثلاث أربعة|اربعة|أربع خمسة|خمس ستة|ست سبعة|سبع ثمانية تسعة|تسع عشرة|عشر"
        )
    },
    units=_units(
        "ثانية ثواني ثوان", "دقيقة دقائق دقايق", "ساعة ساعات", "بالمئة بالمائة", "درجة درجات مئوية"
    ),
    fractions={"نصف": 0.5, "نص": 0.5, "ربع": 0.25},
    joints=("و", "ثم"),
    exceptions=("إلا", "الا", "عدا", "ماعدا"),
    colours=_colours(
        "ابيض|أبيض|الأبيض اسود|أسود احمر|أحمر|الأحمر برتقالي اصفر|أصفر اخضر|أخضر|الأخضر ازرق|أزرق|الأزرق بنفسجي بني وردي|زهري فيروزي|تركواز"
    ),
    plurals=(),
    spellings={"أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ئ": "ي", "ة": "ه"},
)
_KOREAN = Language(
    "korean",
    numerals={
        **_numbers(
            "일|한|하나 이|두|둘 삼|세|셋 사|네|넷 오|다섯 육|여섯 칠|일곱 팔|여덟 구|아홉 십|열"
        )
    },
    units=_units("초", "분", "시간", "퍼센트 프로", "도"),
    fractions={"절반": 0.5, "반": 0.5},
    joints=("그리고",),
    exceptions=("제외하고", "빼고"),
    colours=_colours(
        "흰색|하얀색|백색|화이트 검은색|검정|검정색|블랙 빨강|빨간색|빨강색|붉은색|레드 오렌지색|주황색|주황|오렌지 노란색|노랑|노란|노랑색|옐로우 "
        "녹색|초록|초록색|그린 파랑|파란색|파랑색|푸른색|청색|블루 보라색|보라|퍼플 갈색|밤색|브라운 핑크|분홍|분홍색|핑크색 청록색|터키석"
    ),
    plurals=tuple(
        (ending, "")
        for ending in (
            "에서",
            "으로",
            "들",
            "에",
            "의",
            "를",
            "을",
            "은",
            "는",
            "이",
            "가",
            "로",
            "와",
            "과",
        )
    ),
)
LANGUAGES: Mapping[str, Language] = {
    "en": _ENGLISH, "de": _GERMAN, "fr": _FRENCH, "es": _SPANISH, "nl": _DUTCH, "pl": _POLISH,
    "it": _ITALIAN, "ar": _ARABIC, "ko": _KOREAN,
}  # fmt: skip
"""The supported languages by code."""


def home_language(code: str) -> Language:
    """Return a language by its code; `NEUTRAL` for a language without a table.

    >>> home_language("en").name, home_language("eo").name
    ('english', 'neutral')
    """
    return LANGUAGES.get(code, NEUTRAL)
