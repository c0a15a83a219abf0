"""Whether a user's answer agrees to what was asked. Decided by rule, without a model.

A text affirms where one of its clauses begins with a word of assent ("yes", "go ahead", "oui",
"好的"), and nothing in it takes that back: no reservation or condition of the same language ("but",
"if", "no"), and no question. The languages are English, German, French, Spanish, Italian,
Portuguese, Russian, Chinese, Japanese and Korean. "ok" and signs such as a thumb up belong to each
of them. When in doubt, nothing was affirmed. `seal.core.confirmation` decides whether an answer
allows exactly what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class Language(NamedTuple):
    """How one language allows things; each field holds alternatives of a regex, whole phrases."""

    assent: str
    doubt: str
    off: str
    """What calls a thing off that was affirmed before."""


_ANYWHERE = "ok|okay|okey|okej"
LANGUAGES: Mapping[str, Language] = {
    "en": Language(
        "yes|yeah|yep|yup|yea|y$|aye|sure|sure thing|certainly|absolutely|definitely|of course"
        "|go ahead|go for it|(?:send|save|remove|delete|cancel|set|add|do) (?:it|that|them|so)"
        "|do$|proceed|correct"
        "|right|exactly|confirmed|i confirm|confirm|agreed|i agree|fine|perfect|alright|all right"
        "|sounds (?:good|great|right|fine)|looks (?:good|great|right|fine|correct)"
        "|(?:that|this|it)(?: is|'s) (?:right|correct|fine|ok|okay|good|perfect)"
        "|(?:that|this|it) works|you may|you can|why not|no problem",
        "but|except|however|instead|rather|not|no|nope|nah|never|cannot|can't|don't|won't|isn't"
        "|doesn't|wait|stop|hold on|cancel|change|unless|if|maybe|perhaps|later|actually|first",
        "wait|stop|hold on|cancel|don't|do not|never ?mind|forget it|instead|actually",
    ),
    "de": Language(
        "ja|jawohl|jep|klar|gerne|genau|sicher|natürlich|in ordnung|einverstanden|mach das|mach es"
        "|machen sie das|bitte|stimmt|richtig|passt|kein problem",
        "aber|nicht|kein|keine|keinen|nein|nee|sondern|warte|warten|stopp|stop|erst|falls|wenn"
        "|vielleicht|lieber|ohne",
        "warte|warten sie|stopp|stop|abbrechen|doch nicht|lass es",
    ),
    "fr": Language(
        "oui|ouais|d'accord|bien sûr|vas-y|allez-y|parfait|exactement|c'est (?:ça|bon|correct)"
        "|je confirme|pas de problème",
        "mais|pas|non|attends|attendez|plutôt|sauf|sans|stop|peut-être",
        "attends|attendez|arrête|arrêtez|annule|annulez|stop|laisse tomber",
    ),
    "es": Language(
        "sí|si|claro|vale|adelante|de acuerdo|por supuesto|hazlo|correcto|exacto|perfecto|confirmo"
        "|está bien|sin problema",
        "pero|no|nunca|espera|espere|mejor|salvo|excepto|quizás",
        "espera|espere|cancela|cancele|detente|olvídalo",
    ),
    "it": Language(
        "sì|si|certo|certamente|va bene|procedi|proceda|d'accordo|esatto|corretto|perfetto|confermo"
        "|fallo|nessun problema",
        "ma|però|non|no|aspetta|aspetti|invece|tranne|forse|meglio",
        "aspetta|aspetti|annulla|annulli|ferma|lascia stare",
    ),
    "pt": Language(
        "sim|claro|pode|podes|com certeza|certo|está bem|tudo bem|de acordo|perfeito|confirmo"
        "|exato|avança|sem problema",
        "mas|não|nao|nunca|espera|espere|em vez|exceto|talvez|melhor",
        "espera|espere|cancela|cancele|esquece|esqueça",
    ),
    "ru": Language(
        "да|конечно|хорошо|давай|давайте|верно|правильно|подтверждаю|согласен|согласна|ладно|ок"
        "|без проблем",
        "но|не|нет|подожди|подождите|стоп|отмена|если|лучше|кроме",
        "подожди|подождите|стоп|стой|отмена|отмени|отмените",
    ),
    "zh": Language(
        "是的|是|对的|对|好的|好啊|好吧|好|行|没问题|确认|同意|当然|可以\\w*",
        "但.*|.*不.*|别.*|等.*|.*取消.*|.*没(?!问题).*|如果.*|先.*",
        "取消.*|等等|等一下|别.*|算了",
    ),
    "ja": Language(
        "はい|ええ|うん|お願いします|いいです|いいですよ|大丈夫です|了解です?|そうです|もちろん",
        "でも.*|しかし.*|いいえ|いや|ただ.*|.*ない.*|.*ません.*|待って.*|やめ.*|もし.*",
        "待って.*|やめ.*|キャンセル.*",
    ),
    "ko": Language(
        "네|예|응|그래|그래요|좋아|좋아요|좋습니다|맞아요|맞습니다|물론이죠|그렇게 해 ?주세요",
        "하지만|아니|아니요|아뇨|안|잠깐|잠깐만요|취소.*|만약.*|그런데",
        "잠깐|잠깐만요|취소.*|멈춰.*|그만.*",
    ),
}
_YES_SIGNS = re.compile("[\U0001f44d\U0001f44c\u2705\u2714\u2611\U0001f197\U0001f4af]")
_NO_SIGNS = re.compile("[\U0001f44e\u274c\u274e\u26d4\U0001f6ab\U0001f6d1\u270b]")
_LOOKS = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
"""What gives the sign before it a colour."""
_HARMLESS = re.compile(
    r"\b(?:no problem|no worries|why not|kein problem|pas de problème|sin problema|nessun problema"
    r"|sem problema)\b|без проблем|没问题"
)
"""Words of assent that look like doubt."""
_CLAUSE = re.compile(r"[.!,;:…。！，、；：–—]+")
_POLITE = re.compile(r"^(?:(?:please|thanks|thank you|great|good|oh|ah|well|hi|um)\b[ ]*)+")


def affirms(text: str) -> bool:
    """Tell whether an answer allows what was asked, wholly and at once.

    >>> [affirms(text) for text in ("Yes, go ahead.", "Yes, but to Bo", "Is it safe? ok")]
    [True, False, False]
    """
    said = plain(text)
    if "?" in said or "？" in said or _NO_SIGNS.search(said):
        return False
    spoken = [LANGUAGES[name] for name in spoken_in(text)]
    doubtful = _HARMLESS.sub("", said)
    return (
        bool(spoken)
        and not _refuses(doubtful)
        and not any(holds(doubtful, language.doubt) for language in spoken)
    )


def _refuses(said: str) -> bool:
    """Tell whether the first clause is a doubt and no assent, in whichever language: "No, ja"."""
    first = clauses(said)[:1]
    return any(
        re.fullmatch(language.doubt, clause)
        for clause in first
        if not any(re.fullmatch(language.assent, clause) for language in LANGUAGES.values())
        for language in LANGUAGES.values()
    )


def spoken_in(text: str) -> list[str]:
    """Return the languages in which a text has a clause that begins with a word of assent."""
    said = plain(text)
    return [name for name, language in LANGUAGES.items() if _begins(said, language.assent)]


def calls_off(text: str) -> bool:
    """Tell whether a text takes back what was allowed before, in any of the languages."""
    said = plain(text)
    off = any(holds(said, language.off) for language in LANGUAGES.values())
    return off or _NO_SIGNS.search(said) is not None


def plain(text: str) -> str:
    """Return a text in small letters with single blanks; a sign of assent is an ok of its own."""
    said = _YES_SIGNS.sub(", ok, ", _LOOKS.sub("", text))
    return " ".join(said.casefold().replace("\u2019", "'").split())


def holds(said: str, phrases: str) -> bool:
    """Tell whether a plain text has one of some phrases, alternatives of a regex."""
    return re.search(rf"(?<!\w)(?:{phrases})(?!\w)", said) is not None


def clauses(said: str) -> list[str]:
    """Return the clauses of a text, which end at any stop or comma, without empty ones."""
    return [part for clause in _CLAUSE.split(said) if (part := clause.strip())]


def _begins(said: str, phrases: str) -> bool:
    """Tell whether a clause begins with one of the phrases."""
    pattern = re.compile(rf"(?:{_ANYWHERE}|{phrases})(?!\w)")
    return any(pattern.match(_POLITE.sub("", clause)) for clause in clauses(said))
