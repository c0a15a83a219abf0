"""Functions that are hostile or broken, and what each sandbox should make of them."""

from __future__ import annotations

from typing import NamedTuple


class Hostile(NamedTuple):
    """One source text; every source defines `f(table)`, or fails to."""

    name: str
    source: str
    monty: str
    """Status in the embedded sandbox."""
    bubblewrap: str
    """Status under bubblewrap."""


def body(*lines: str) -> str:
    return "\n".join(["def f(table):", *(f"    {line}" for line in lines)])


HOSTILE = [
    # Time.
    Hostile("endless loop", body("while True: pass"), "timeout", "timeout"),
    Hostile("endless loop at the top", "while True: pass", "timeout", "timeout"),
    Hostile(
        "a loop that catches everything",
        body(
            "while True:", "    try:", "        while True: pass", "    except BaseException: pass"
        ),
        "timeout",
        "timeout",
    ),
    Hostile("a long sum", body("return sum(range(10**11))"), "timeout", "timeout"),
    Hostile(
        "endless iterator",
        "import itertools\n" + body("for _ in itertools.count(): pass"),
        "timeout",
        "timeout",
    ),
    Hostile(
        "catastrophic regex",
        "import re\n" + body("return [bool(re.match(r'(a|a)*$', 'a' * 60 + 'b'))]"),
        "any",
        "timeout",
    ),
    Hostile("sleep", "import time\n" + body("while True: time.sleep(60)"), "timeout", "timeout"),
    # Memory.
    Hostile(
        "memory bomb",
        body("kept = []", "while True: kept.append('x' * 4000000)"),
        "memory",
        "memory",
    ),
    Hostile("memory bomb at once", body("return [0] * 10**10"), "memory", "memory"),
    Hostile("string bomb", body("return 'x' * 10**11"), "memory", "memory"),
    Hostile(
        "doubling string",
        body("s = 'x' * 1000000", "while True: s += s"),
        "spent",
        "memory",
    ),
    Hostile(
        "replacing bomb",
        body("return ('a' * 10**6).replace('a', 'b' * 10**6)"),
        "memory",
        "memory",
    ),
    Hostile("format bomb", body("return '%100000000000d' % 1"), "memory", "memory"),
    Hostile("big power", body("return 3 ** 10**10"), "memory", "spent"),
    Hostile("9**9**9", body("return 9**9**9"), "memory", "spent"),
    Hostile("big shift", body("return 1 << 10**13"), "memory", "memory"),
    Hostile(
        "catches MemoryError",
        body("try:", "    return len('x' * 10**11)", "except MemoryError:", "    return []"),
        "memory",
        "pass",
    ),
    # Depth.
    Hostile("recursion", body("return f(table)"), "exception", "exception"),
    Hostile("deep source", body("return " + "(" * 5000 + "1" + ")" * 5000), "any", "syntax"),
    Hostile("deeper source", body("return " + "-" * 50000 + "1"), "syntax", "syntax"),
    Hostile(
        "deep result",
        body("kept = []", "for _ in range(100000): kept = [kept]", "return kept"),
        "exception",
        "exception",
    ),
    Hostile(
        "result that holds itself",
        body("kept = []", "kept.append(kept)", "return kept"),
        "exception",
        "exception",
    ),
    # Output.
    Hostile("print flood", body("while True: print('x' * 1000)"), "spent", "memory"),
    Hostile("huge result", body("return ['x' * 1000] * 2000"), "memory", "memory"),
    Hostile(
        "raw writes",
        "import os\n" + body("os.write(1, b'{}\\n' * 100)", "return []"),
        "unsupported",
        "pass",
    ),
    Hostile(
        "writes to every descriptor",
        "import os\n"
        + body(
            "for n in range(40):",
            '    try: os.write(n, b\'{"number": 1, "kind": "pass"}\\n\')',
            "    except OSError: pass",
            "return []",
        ),
        "unsupported",
        "exception",
    ),
    Hostile(
        "answers a letter at a time",
        "import os\n" + body("while True: os.write(4, b'x')"),
        "unsupported",
        "timeout",
    ),
    Hostile(
        "writes errors for ever",
        "import os\n" + body("while True: os.write(2, b'x' * 65536)"),
        "unsupported",
        "timeout",
    ),
    Hostile(
        "closes every descriptor",
        "import os\n" + body("os.closerange(0, 40)", "return []"),
        "unsupported",
        "exception",
    ),
    # The system.
    Hostile("fork", "import os\n" + body("return os.fork()"), "unsupported", "exception"),
    Hostile(
        "fork bomb",
        "import os\n" + body("while True: os.fork()"),
        "unsupported",
        "exception",
    ),
    Hostile(
        "variables of a process",
        body("return open('/proc/self/environ').read()"),
        "exception",
        "exception",
    ),
    Hostile(
        "kills all others",
        "import os\n" + body("os.kill(-1, 9)", "return []"),
        "unsupported",
        "exception",
    ),
    Hostile(
        "stops itself",
        "import os\n" + body("os.kill(os.getpid(), 19)"),
        "unsupported",
        "timeout",
    ),
    Hostile(
        "memory in a file",
        "import os\n" + body("return os.memfd_create('x')"),
        "unsupported",
        "exception",
    ),
    Hostile(
        "a folder",
        "import os\n" + body("os.mkdir('/x')"),
        "exception",
        "exception",
    ),
    Hostile("another root", "import os\n" + body("os.chroot('/')"), "unsupported", "exception"),
    Hostile(
        "an encoder of its own",
        "import json\n"
        "class E:\n"
        "    def __init__(self, **kinds): pass\n"
        "    def encode(self, value): return '[1e999]'\n"
        "json.JSONEncoder = E\n" + body("return []"),
        "exception",
        "exception",
    ),
    Hostile("shell", "import os\n" + body("return os.system('id')"), "unsupported", "wrong"),
    Hostile(
        "subprocess",
        "import subprocess\n" + body("return subprocess.check_output(['id'])"),
        "unsupported",
        "exception",
    ),
    Hostile(
        "thread",
        "import threading\n" + body("threading.Thread(target=print).start()"),
        "unsupported",
        "exception",
    ),
    Hostile("reads a file", body("return open('/etc/passwd').read()"), "exception", "exception"),
    Hostile("writes a file", body("open('/tmp/x', 'w').write('x')"), "exception", "exception"),
    Hostile(
        "writes beside the library",
        "import os, json\n" + body("open(os.path.join(json.__path__[0], 'x'), 'w')"),
        "unsupported",
        "exception",
    ),
    Hostile(
        "network",
        "import socket\n" + body("socket.create_connection(('127.0.0.1', 80))"),
        "unsupported",
        "exception",
    ),
    Hostile(
        "a page",
        "import urllib.request\n" + body("urllib.request.urlopen('http://127.0.0.1')"),
        "unsupported",
        "exception",
    ),
    Hostile(
        "a foreign function",
        "import ctypes\n" + body("ctypes.string_at(0)"),
        "unsupported",
        "exception",
    ),
    Hostile(
        "a library that is not there",
        "import pandas\n" + body("return []"),
        "exception",
        "exception",
    ),
    Hostile("import by name", body("__import__('os')._exit(3)"), "unsupported", "exception"),
    Hostile("leaves at once", "import os\n" + body("os._exit(0)"), "unsupported", "exception"),
    Hostile(
        "kills itself",
        "import os\n" + body("os.kill(os.getpid(), 9)"),
        "unsupported",
        "exception",
    ),
    Hostile("sys.exit", "import sys\n" + body("sys.exit(0)"), "unsupported", "exception"),
    Hostile("SystemExit", body("raise SystemExit"), "exception", "exception"),
    Hostile("KeyboardInterrupt", body("raise KeyboardInterrupt"), "exception", "exception"),
    Hostile(
        "raises the limits",
        "import resource\n"
        + body("resource.setrlimit(resource.RLIMIT_AS, (2**40, 2**40))", "return []"),
        "unsupported",
        "exception",
    ),
    Hostile(
        "deepest recursion",
        "import sys\nsys.setrecursionlimit(10**9)\n" + body("return f(table)"),
        "unsupported",
        "ended",
    ),
    # Introspection.
    Hostile(
        "subclasses",
        body("return [c.__name__ for c in ().__class__.__mro__[1].__subclasses__()][:1]"),
        "unsupported",
        "wrong",
    ),
    Hostile("code object", body("return f.__code__.co_consts"), "unsupported", "wrong"),
    Hostile("globals", body("return f.__globals__"), "unsupported", "exception"),
    Hostile("builtins", body("__builtins__['len'] = None", "return 1"), "unsupported", "any"),
    Hostile(
        "frames",
        "import sys\n" + body("return str(sys._getframe(1).f_locals)"),
        "unsupported",
        "wrong",
    ),
    Hostile("eval", body("return [eval('__import__(\"os\").fork()')]"), "unsupported", "exception"),
    Hostile(
        "another json",
        "import json\njson.dumps = lambda *a, **k: 'x' * 10**7\n" + body("return []"),
        "exception",
        "pass",
    ),
    Hostile("another len", "len = lambda x: 0\ndict = None\n" + body("return table"), "any", "any"),
    # Results.
    Hostile(
        "an object that fails in every way",
        "class A:\n    def __eq__(self, other): raise ValueError('eq')\n"
        "    def __repr__(self): raise ValueError('repr')\n"
        "    def __hash__(self): raise ValueError('hash')\n" + body("return [A()]"),
        "exception",
        "exception",
    ),
    Hostile(
        "a dict that fails",
        "class A(dict):\n    def items(self): raise ValueError('items')\n"
        "    def __iter__(self): raise ValueError('iter')\n" + body("return [A(a=1)]"),
        "unsupported",
        "any",
    ),
    Hostile(
        "an error that has no text",
        "class A(Exception):\n    def __str__(self): raise ValueError('str')\n" + body("raise A()"),
        "unsupported",
        "exception",
    ),
    Hostile("generator", body("yield {'a': 1}"), "unsupported", "exception"),
    Hostile("endless generator", body("while True: yield {}"), "unsupported", "exception"),
    Hostile("coroutine", "async def f(table): return []", "exception", "exception"),
    Hostile("not a number", body("return [float('nan')]"), "exception", "exception"),
    Hostile("infinite", body("return [{'a': float('inf')}]"), "exception", "exception"),
    Hostile("a set", body("return {1, 2}"), "exception", "exception"),
    Hostile("bytes", body("return [b'x']"), "exception", "exception"),
    Hostile("too many digits", body("return [10**5000]"), "exception", "exception"),
    Hostile("half a surrogate", body("return ['\\ud800']"), "wrong", "wrong"),
    Hostile("nothing", body("return None"), "wrong", "wrong"),
    Hostile("a text", body("return 'rows'"), "wrong", "wrong"),
    Hostile("changes the table", body("table[0]['a'] = 2", "return table"), "wrong", "wrong"),
    Hostile("empties the table", body("table.clear()", "return table"), "pass", "pass"),
    # Sources.
    Hostile("no Python", "Sure! Here is the function you asked for.", "syntax", "syntax"),
    Hostile("half a function", "def f(table:\n", "syntax", "syntax"),
    Hostile("null byte", body("return []") + "\0", "syntax", "syntax"),
    Hostile("half a surrogate in the source", "x = '\ud800'", "syntax", "syntax"),
    Hostile("a megabyte", "#" * 2**20 + "\n" + body("return []"), "syntax", "syntax"),
    Hostile("nothing at all", "", "no_function", "no_function"),
    Hostile("another function", "def g(table): return []", "no_function", "no_function"),
    Hostile("no function of that name", "f = [1, 2]", "no_function", "no_function"),
    Hostile("too few arguments", "def f(): return []", "exception", "exception"),
    Hostile("too many arguments", "def f(table, more): return []", "exception", "exception"),
    Hostile("fails at the top", "1 / 0\n" + body("return []"), "exception", "exception"),
    Hostile(
        "claims to lack a construct",
        body("raise NotImplementedError('The monty syntax parser does not yet support x')"),
        "exception",
        "exception",
    ),
]
"""`any` where the outcome depends on the version; `spent`: out of time or of memory; `ended`: or
by an exception."""
