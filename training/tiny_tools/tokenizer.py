"""Text to tokens and back, with a small vocabulary in the form that llama.cpp calls SPM: bytes, special tokens, a space,
and learned merges.

No merge crosses from letters to anything else, a capital only starts a token, digits and spaces stay alone. So a word is
always cut in the same way, wherever it stands (in a tool's name, behind a quote, in a sentence), and copying it is copying
the same tokens. The weights depend on the numbers here and on vocabulary.json.
"""
import functools
import json
import re
from pathlib import Path

VOCABULARY = Path(__file__).with_name('vocabulary.json')
SPECIAL = {'unk': 0, 'bos': 1, 'eos': 2, 'user': 259, 'tools': 260, 'call': 261, 'result': 262, 'say': 263, 'end': 264}
FIRST_BYTE = 3  # the token of byte b is FIRST_BYTE + b
SPACE = 265
FIRST_MERGE = 266
CHUNK = re.compile(r'[A-Z]?[a-z]+|[A-Z]|[{}":,\[\]]+|.', re.S)
NO_RANK = 1 << 30


class Tokenizer:

    def __init__(self, path=VOCABULARY):
        self.merges = json.loads(Path(path).read_text())
        self.rank = {merge: i for i, merge in enumerate(self.merges)}
        self.size = FIRST_MERGE + len(self.merges)
        self.chunk_tokens = functools.lru_cache(200_000)(self.chunk_tokens_uncached)

    def chunk_tokens_uncached(self, chunk):
        """llama.cpp's rule: join the neighbours whose joined text has the best score, leftmost first, until none is left."""
        if chunk == ' ':
            return (SPACE,)
        parts = list(chunk)
        while len(parts) > 1:
            rank, i = min((self.rank.get(parts[i] + parts[i + 1], NO_RANK), i) for i in range(len(parts) - 1))
            if rank == NO_RANK:
                break
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
        tokens = []
        for part in parts:
            if part in self.rank:
                tokens.append(FIRST_MERGE + self.rank[part])
            else:
                tokens += [FIRST_BYTE + byte for byte in part.encode()]
        return tuple(tokens)

    def encode(self, text):
        return [token for chunk in CHUNK.findall(text) for token in self.chunk_tokens(chunk)]

    def decode(self, tokens):
        """The text. Special tokens are written as in the GGUF file, <|hf_call|>."""
        special = {number: name for name, number in SPECIAL.items()}
        out = b''
        for token in tokens:
            if token == SPACE:
                out += b' '
            elif token >= FIRST_MERGE:
                out += self.merges[token - FIRST_MERGE].encode()
            elif token in special:
                out += special_text(special[token]).encode()
            else:
                out += bytes([token - FIRST_BYTE])
        return out.decode('utf8', 'replace')

    def example(self, segments):
        """(tokens, for each: does the assistant say it?) of `conversation.segments`."""
        tokens, is_assistant = [], []
        for what, text, assistant in segments:
            part = [SPECIAL[what]] + self.encode(text)
            tokens += part
            is_assistant += [assistant] * len(part)
        return tokens, is_assistant


def special_text(name):
    """How a special token is written. Not <|call|>: llama.cpp takes some such names as ends of generation."""
    return {'unk': '<unk>', 'bos': '<s>', 'eos': '</s>'}.get(name, f'<|hf_{name}|>')
