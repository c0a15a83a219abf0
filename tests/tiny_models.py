"""Small random sentence-transformers models, made in a test: no weights, no network."""

from collections.abc import Iterable
from pathlib import Path

from seal.core.text import words


def vocabulary_of(texts: Iterable[str]) -> list[str]:
    """Return the words of texts after the marks of BERT, sorted."""
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted({w for t in texts for w in words(t)})]


def write_static(folder: Path, texts: Iterable[str], dimension: int = 32) -> Path:
    """Write a model that sums the random vectors of words, and return its folder."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    torch.manual_seed(0)
    words_model = StaticEmbedding(_tokenizer(vocabulary_of(texts)), embedding_dim=dimension)
    SentenceTransformer(modules=[words_model], device="cpu").save_pretrained(
        str(folder), create_model_card=False
    )
    return folder


def write_bert(folder: Path, texts: Iterable[str]) -> Path:
    """Write a BERT of two small layers, with dropout, and return its folder."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertModel

    torch.manual_seed(0)
    vocabulary = vocabulary_of(texts)
    inner = folder.with_name(f"{folder.name}-inner")
    BertModel(_bert(vocabulary)).save_pretrained(inner)
    _fast_tokenizer(vocabulary).save_pretrained(inner)
    bert = Transformer(str(inner))
    SentenceTransformer(modules=[bert, Pooling(32)], device="cpu").save_pretrained(
        str(folder), create_model_card=False
    )
    return folder


def _bert(vocabulary: list[str], **options: float):
    from transformers import BertConfig

    return BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        **options,
    )


def _fast_tokenizer(vocabulary: list[str]):
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(
        tokenizer_object=_tokenizer(vocabulary),
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
    )


def _tokenizer(vocabulary: list[str]):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    ids = {word: number for number, word in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def write_cross_encoder(folder: Path, texts: Iterable[str]) -> Path:
    """Write a BERT of two small layers that scores pairs of texts, and return its folder."""
    import torch
    from transformers import BertForSequenceClassification

    torch.manual_seed(0)
    vocabulary = vocabulary_of(texts)
    BertForSequenceClassification(
        _bert(vocabulary, num_labels=1, initializer_range=1.0)
    ).save_pretrained(folder)
    _fast_tokenizer(vocabulary).save_pretrained(folder)
    return folder
