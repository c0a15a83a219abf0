"""Thinking in texts, and what servers say where a window is full or a filter acts."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from linear import linear
from looped import every_case

from seal.core import Completion
from seal.core.outcomes import (
    error_in,
    finish_of,
    is_over_a_minute,
    is_same_model,
    lacks_room,
    may_pass,
    refusal_of,
)
from seal.core.protocols import without_thinking

ANALYSIS = "<|channel|>analysis<|message|>a<|end|><|start|>assistant"
THOUGHTS = {
    "<think>\nLet me see.\n</think>\n\nIt is sunny.": ("It is sunny.", "Let me see."),
    "  <THINK>a</THINK>b": ("b", "a"),
    "<thinking>a</thinking>b": ("b", "a"),
    "<seed:think>a</seed:think>b": ("b", "a"),
    "<think></think>\n\nb": ("b", ""),
    "[THINK]a[/THINK]b": ("b", "a"),
    "<|START_THINKING|>a<|END_THINKING|>b": ("b", "a"),
    "◁think▷a◁/think▷b": ("b", "a"),
    "<|channel>thought\na<channel|>b": ("b", "a"),
    f"{ANALYSIS}<|channel|>final<|message|>b<|return|>": ("b", "a"),
    f"{ANALYSIS}<|channel|>commentary to=functions.f "
    '<|constrain|>json<|message|>{"city": "Bern"}<|call|>': (
        'to=functions.f {"city": "Bern"}',
        "a",
    ),
    "analysisWe must add.assistantfinalIt is 4.": ("It is 4.", "We must add."),
    # the end of the limit, or of a model's patience
    "<think>Let me see. The user": ("", "Let me see. The user"),
    "[THINK]a": ("", "a"),
    "<|channel|>analysis<|message|>a": ("", "a"),
    # several, and after words
    "<think>a</think>\n<think>b</think>c": ("c", "a\n\nb"),
    "I look.\n<think>a</think>\nFound.": ("I look.\n\nFound.", "a"),
    # the template has begun it
    "I see.\n</think>\n\nIt is sunny.": ("It is sunny.", "I see."),
    "I see.</think>It is sunny.": ("It is sunny.", "I see."),
    'I see.\n</think>\n{"verdict": "solved"}': ('{"verdict": "solved"}', "I see."),
}


@every_case(("text", "parts"), THOUGHTS.items())
def test_thinking_is_taken_out_of_a_text(text, parts):
    assert without_thinking(text) == parts
    answer = Completion(text)
    assert (answer.content, answer.reasoning) == parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I think so.",
        "An analysis of the weather",
        'Action: post\nAction Input: {"text": "<think>x</think> y"}',
        '{"name": "post", "arguments": {"html": "a</think> b"}}',
        "The tag <think> begins the thinking of a model.",
        "Analysis: none",
    ],
)
def test_words_about_thinking_stay_as_they_are(text):
    assert without_thinking(text) == (text, "")


def test_thinking_in_the_content_follows_on_what_a_server_gives_beside_it():
    answer = Completion("<think>b</think>c", reasoning="a")
    assert (answer.content, answer.reasoning) == ("c", "a\n\nb")


MARKS = (
    "<think>",
    "</think>",
    "[THINK]",
    "[/THINK]",
    "<|channel|>",
    "analysis",
    "<|message|>",
    "\n",
)


@given(st.lists(st.sampled_from((*MARKS, "word ", '"')), max_size=12).map("".join))
@example('</think></think><think>"')
def test_what_was_said_holds_no_thinking_any_more(text):
    said, _ = without_thinking(text)
    assert len(said) <= len(text)
    assert without_thinking(Completion(text).content)[1] == "" or "<|" in text


def test_a_long_text_of_marks_takes_no_long_time():
    for mark in ("<think>", "</think>", "\n<|channel|>"):
        linear(lambda times, mark=mark: without_thinking(mark * times + '"'), 40_000)
    linear(lambda times: without_thinking("<|channel|>" + "a" * times), 100_000)


# What servers answer, in their own words; status, message and code or type.
OVERFLOWS = {
    "openai": (
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted in "
        "130038 tokens. Please reduce the length of the messages. context_length_exceeded",
    ),
    "openai, newer": (
        400,
        "Your input exceeds the context window of this model. Please adjust your input and try "
        "again. context_length_exceeded",
    ),
    "vllm": (
        400,
        "This model's maximum context length is 4096 tokens. However, you requested 4200 tokens "
        "(4100 in the messages, 100 in the completion). BadRequestError",
    ),
    "vllm, newer": (
        400,
        "The decoder prompt (length 5012) is longer than the maximum model length of 4096. Make "
        "sure that `max_model_len` is no smaller than the number of text tokens.",
    ),
    "llama.cpp": (
        400,
        "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing "
        "it exceed_context_size_error",
    ),
    "llama.cpp, earlier": (
        500,
        "the request exceeds the available context size. try increasing the context size or enable "
        "context shift",
    ),
    "llama.cpp, while it answers": (500, "Context size has been exceeded. server_error"),
    "llama-cpp-python": (400, "Requested tokens (2285) exceed context window of 2048"),
    "anthropic": (400, "prompt is too long: 200534 tokens > 200000 maximum invalid_request_error"),
    "anthropic, with the answer": (
        400,
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease "
        "input length or `max_tokens` and try again",
    ),
    "gemini": (
        400,
        "The input token count (218152) exceeds the maximum number of tokens allowed (65536).",
    ),
    "mistral": (
        400,
        "Prompt contains 300000 tokens, too large for model with 131072 maximum context length",
    ),
    "sglang": (
        400,
        "The input (265330 tokens) is longer than the model's context length (262144 tokens).",
    ),
    "tgi": (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096."),
    "xai": (
        400,
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    ),
    "openrouter": (
        400,
        "This endpoint's maximum context length is 131072 tokens. However, you requested about "
        "537812 tokens",
    ),
    "groq": (400, "Please reduce the length of the messages or completion."),
    "lm studio": (
        400,
        "Trying to keep the first 5120 tokens when context the overflows. However, the model is "
        "loaded with context length of only 4096 tokens; tokens to keep from the initial prompt is "
        "greater than the context length",
    ),
    "ollama": (400, "prompt too long; exceeded max context length by 4096 tokens"),
    "bedrock": (400, "Input is too long for requested model."),
    "dashscope": (400, "Range of input length should be [1, 129024]"),
    "zhipu": (400, "Prompt exceeds max length"),
    "tabby": (400, "Prompt length 5000 is greater than max_seq_len 4096"),
    "copilot": (
        400,
        "prompt token count of 130000 exceeds the limit of 128000 model_max_prompt_tokens_exceeded",
    ),
    "siliconflow": (
        400,
        "length of prompt_tokens (163280) must be less than max_seq_len (32768).",
    ),
}
FILTERS = {
    "azure": (
        400,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management "
        "policy. Please modify your prompt and retry. content_filter",
    ),
    "azure, its inner code": (400, "Bad request ResponsibleAIPolicyViolation"),
    "openai": (
        400,
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy. "
        "invalid_prompt",
    ),
    "anthropic": (400, "Output blocked by content filtering policy invalid_request_error"),
    "deepseek": (400, "Content Exists Risk invalid_request_error"),
    "dashscope": (
        400,
        "Input data may contain inappropriate content. data_inspection_failed",
    ),
    "xai": (403, "Content violates usage guidelines."),
    "minimax": (400, "input new_sensitive"),
    "openrouter": (403, "openai/x requires moderation on OpenRouter. Your input was flagged."),
}
OTHERS = {
    "a rate": (
        429,
        "Request too large for model in organization: tokens per minute (TPM): Limit 6000",
    ),
    "a rate under 413": (413, "Request too large: Limit 6000 tokens per minute, Requested 9000"),
    "throttled": (400, "ThrottlingException: Too many tokens, please wait before trying again."),
    "a parameter": (400, "Unsupported parameter: 'max_tokens' is not supported with this model."),
    "a value": (400, "max_tokens must be at least 1, got -5."),
    "a key": (401, "Incorrect API key provided"),
    "a name": (404, "The model `maximum context length` does not exist"),
    "a template": (400, "After the optional system message, conversation roles must alternate"),
    "a broken server": (500, "Internal Server Error"),
    "a filter's service": (503, "content_filter service unavailable"),
    "an answer": (200, "maximum context length"),
    "no window": (400, "Tool inputs must be JSON objects, got a list."),
    "tools": (400, "Number of tools (200) exceeds the limit of 128"),
    "an output": (400, "max_tokens must be less than 4096 tokens"),
    "an output, anthropic's": (
        400,
        "max_tokens: 4096 > 2048, which is the maximum allowed number of output tokens for tiny",
    ),
    "a field": (400, "Unknown parameter: 'content_filter'."),
    "a tool of that name": (400, "Invalid schema for function 'content_filter': no type"),
    "a quota": (400, "Daily token limit exceeded"),
    "a busy server": (503, "Too many tokens, please wait before trying again."),
    "a slow server": (408, "maximum context length"),
    "a gateway": (502, "prompt is too long"),
    "a fault that speaks of length": (500, "the prompt is too long to be logged"),
}


@every_case(("status", "said"), OVERFLOWS.values(), ids=OVERFLOWS)
def test_a_full_window_is_known_by_what_servers_say(status, said):
    assert refusal_of(status, said) == "context_overflow"


@pytest.mark.parametrize(("status", "said"), FILTERS.values(), ids=FILTERS)
def test_a_filter_is_known_by_what_servers_say(status, said):
    assert refusal_of(status, said) == "filtered"


@every_case(("status", "said"), OTHERS.values(), ids=OTHERS)
def test_other_refusals_are_no_outcome_of_the_model(status, said):
    assert refusal_of(status, said) is None


def test_a_code_says_more_than_words_and_a_status_more_than_a_code():
    assert refusal_of(400, "no", "context_length_exceeded") == "context_overflow"
    assert refusal_of(400, "function 'f'", "content_filter invalid_request_error") == "filtered"
    zhipu = "系统检测到输入或生成内容可能包含不安全或敏感内容"
    assert refusal_of(400, zhipu, "1301") == "filtered"
    assert refusal_of(400, zhipu) is refusal_of(400, zhipu, "1210") is None
    for status in (401, 402, 404, 408, 409, 425, 429, 502, 503, 504, 529):
        assert refusal_of(status, "maximum context length", "context_length_exceeded") is None
        assert refusal_of(status, "blocked by safety", "content_filter") is None


@every_case(
    ("said", "reason"),
    [
        ("stop", "stop"),
        ("end_turn", "stop"),
        ("STOP", "stop"),
        ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "content_filter"),
        ("SAFETY", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "unreadable"),
        ("malformed_model_output", "unreadable"),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", "unreadable"),
        ("content_filter: PROHIBITED_CONTENT", "content_filter"),
        ("content_filter: of tomorrow", "content_filter"),
        ("Server_Error", "server_error"),
        ("null", ""),
        (None, ""),
        (3, ""),
    ],
)
def test_reasons_to_finish_are_told_in_openais_words(said, reason):
    assert finish_of(said) == reason


def test_all_before_the_last_of_several_ends_is_thinking() -> None:
    assert without_thinking("one</think>two</think> three") == ("three", "onetwo")
    assert without_thinking("</think>\n" * 40_000 + "<think>a</think>b") == ("b", "a")


@pytest.mark.parametrize("echoed", ["input token count ", "exceed"])
def test_a_long_text_that_a_server_repeats_takes_no_long_time(echoed):
    assert refusal_of(400, echoed * 20_000) is None


def test_what_a_server_repeats_of_a_request_does_not_make_its_refusal_pass():
    assert may_pass(498, "Flex tier capacity exceeded")
    assert may_pass(400, "ThrottlingException: too many requests, try again later")
    repeated = "Input should be a list, input: " + "a tool " * 30 + "checks the rate limits"
    assert not may_pass(422, repeated)


def test_a_request_beyond_the_tokens_of_a_minute_never_passes():
    said = "Request too large for m on tokens per min (TPM): Limit 30000, Requested {}. Or else"
    for tokens, over in ((30_001, True), (29_999, False)):
        told = said.format(tokens)
        assert is_over_a_minute(told) is over
        assert may_pass(429, told) is may_pass(413, told, "rate_limit_exceeded") is not over
    assert may_pass(429, "Request too large, try again later")
    assert not is_over_a_minute("request too large per min " * 100)
    linear(lambda times: is_over_a_minute("request too large per min " * times), 7_700)


def test_a_name_of_a_version_or_of_a_provider_is_the_same_model():
    same = {
        "gpt-4o": "gpt-4o-2024-08-06 GPT-4o openai/gpt-4o models/gpt-4o gpt-4o:free",
        "claude-3.5-sonnet": "claude-3-5-sonnet-20241022 anthropic.claude-3-5-sonnet-20241022-v2:0",
        "claude-3-5-sonnet-latest": "claude-3-5-sonnet-20241022",
        "models/gemini-2.5-flash-preview-05-20": "gemini-2.5-flash",
        "llama3": "llama3:latest",
        "us.meta.llama3-8b": "llama3-8b",
        "/models/qwen-7b.gguf": "qwen-7b",
    }
    other = {
        "gpt-4o": "gpt-4o-mini gpt-4 o",
        "gpt-4": "gpt-4.1 gpt-4-turbo",
        "llama-3-8b": "deepseek-r1-distill-llama-3-8b llama-3-70b",
        "qwen2.5:7b": "qwen2.5:14b gemma-3-1b",
        "m": "",
    }
    for asked, names in same.items():
        assert all(is_same_model(asked, said) for said in names.split()), asked
    for asked, names in other.items():
        assert not any(is_same_model(asked, said) for said in names.split() or [""]), asked


def test_what_lacks_room_is_known_whatever_the_status():
    for said in ("prompt is too long: 9 > 2", "truncating input prompt", "prompt was truncated"):
        assert lacks_room(said)
    for said in ("Too many tokens, please wait", "the answer was truncated"):
        assert not lacks_room(said)


def test_an_envelope_says_whether_there_is_an_answer():
    assert error_in({"success": True, "result": {"response": "Sunny."}}) is None
    assert error_in({"success": False, "msg": "no"})["message"] == "no"
    of_cloudflare = {"code": 7009, "message": "Upstream service unavailable"}
    told = error_in({"result": None, "success": False, "errors": [of_cloudflare], "messages": []})
    assert (told["message"], told["code"]) == ("Upstream service unavailable", 7009)
    assert error_in({"data": None, "detail": "worker died"})["message"] == "worker died"
    assert error_in({"choices": [], "x_groq": {"error": "over_capacity"}})["message"] == (
        "over_capacity"
    )
    assert error_in({"choices": [], "x_groq": {"id": "r", "usage": {}}}) is None
    assert error_in({"code": 429, "message": "slow", "data": {}})["code"] == 429
    assert error_in({"code": 0, "message": "ok", "data": {"answer": "Sunny."}}) is None
