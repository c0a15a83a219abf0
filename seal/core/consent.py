"""What a user answers to the question whether something may be done: by rule, without a model.

A text affirms where one of its clauses begins with a word of assent ("yes", "go ahead", "oui",
"好的"), and nothing in it takes that back: no reservation or condition of the same language ("but",
"if", "no"), and no question. Read are English, German, French, Spanish, Italian, Portuguese,
Russian, Chinese, Japanese and Korean; "ok" is of each of them. When in doubt nothing was affirmed.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class _Language(NamedTuple):
    assent: str
    """Alternatives of a regex, each a whole phrase."""
    doubt: str
    off: str
    """What calls a thing off that was affirmed before."""


_ANYWHERE = "ok|okay|okey|okej"
_LANGUAGES = (
    _Language(
        "yes|yeah|yep|yup|yea|aye|sure|sure thing|certainly|absolutely|definitely|of course"
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
    _Language(
        "ja|jawohl|jep|klar|gerne|genau|sicher|natürlich|in ordnung|einverstanden|mach das|mach es"
        "|machen sie das|bitte|stimmt|richtig|passt|kein problem",
        "aber|nicht|kein|keine|keinen|nein|nee|sondern|warte|warten|stopp|stop|erst|falls|wenn"
        "|vielleicht|lieber|ohne",
        "warte|warten sie|stopp|stop|abbrechen|doch nicht|lass es",
    ),
    _Language(
        "oui|ouais|d'accord|bien sûr|vas-y|allez-y|parfait|exactement|c'est (?:ça|bon|correct)"
        "|je confirme|pas de problème",
        "mais|pas|non|attends|attendez|plutôt|sauf|sans|stop|peut-être",
        "attends|attendez|arrête|arrêtez|annule|annulez|stop|laisse tomber",
    ),
    _Language(
        "sí|si|claro|vale|adelante|de acuerdo|por supuesto|hazlo|correcto|exacto|perfecto|confirmo"
        "|está bien|sin problema",
        "pero|no|nunca|espera|espere|mejor|salvo|excepto|quizás",
        "espera|espere|cancela|cancele|detente|olvídalo",
    ),
    _Language(
        "sì|si|certo|certamente|va bene|procedi|proceda|d'accordo|esatto|corretto|perfetto|confermo"
        "|fallo|nessun problema",
        "ma|però|non|no|aspetta|aspetti|invece|tranne|forse|meglio",
        "aspetta|aspetti|annulla|annulli|ferma|lascia stare",
    ),
    _Language(
        "sim|claro|pode|podes|com certeza|certo|está bem|tudo bem|de acordo|perfeito|confirmo"
        "|exato|avança|sem problema",
        "mas|não|nao|nunca|espera|espere|em vez|exceto|talvez|melhor",
        "espera|espere|cancela|cancele|esquece|esqueça",
    ),
    _Language(
        "да|конечно|хорошо|давай|давайте|верно|правильно|подтверждаю|согласен|согласна|ладно|ок"
        "|без проблем",
        "но|не|нет|подожди|подождите|стоп|отмена|если|лучше|кроме",
        "подожди|подождите|стоп|стой|отмена|отмени|отмените",
    ),
    _Language(
        "是的|是|对的|对|好的|好啊|好吧|好|行|没问题|确认|同意|当然|可以\\w*",
        "但.*|.*不.*|别.*|等.*|.*取消.*|.*没(?!问题).*|如果.*|先.*",
        "取消.*|等等|等一下|别.*|算了",
    ),
    _Language(
        "はい|ええ|うん|お願いします|いいです|いいですよ|大丈夫です|了解です?|そうです|もちろん",
        "でも.*|しかし.*|いいえ|いや|ただ.*|.*ない.*|.*ません.*|待って.*|やめ.*|もし.*",
        "待って.*|やめ.*|キャンセル.*",
    ),
    _Language(
        "네|예|응|그래|그래요|좋아|좋아요|좋습니다|맞아요|맞습니다|물론이죠|그렇게 해 ?주세요",
        "하지만|아니|아니요|아뇨|안|잠깐|잠깐만요|취소.*|만약.*|그런데",
        "잠깐|잠깐만요|취소.*|멈춰.*|그만.*",
    ),
)
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
    said = _plain(text)
    if "?" in said or "？" in said:
        return False
    spoken = [language for language in _LANGUAGES if _begins(said, language.assent)]
    doubtful = _HARMLESS.sub("", said)
    return bool(spoken) and not any(_holds(doubtful, language.doubt) for language in spoken)


def calls_off(text: str) -> bool:
    """Tell whether a text takes back what was allowed before, in any of the languages."""
    return any(_holds(_plain(text), language.off) for language in _LANGUAGES)


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("\u2019", "'").split())


def _begins(said: str, phrases: str) -> bool:
    """Tell whether a clause begins with one of the phrases."""
    pattern = re.compile(rf"(?:{_ANYWHERE}|{phrases})(?!\w)")
    clauses = (_POLITE.sub("", clause.strip()) for clause in _CLAUSE.split(said))
    return any(pattern.match(clause) for clause in clauses)


def _holds(said: str, phrases: str) -> bool:
    return re.search(rf"(?<!\w)(?:{phrases})(?!\w)", said) is not None
