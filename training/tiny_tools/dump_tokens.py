"""Writes texts with the tokens that tokenizer.py gives them, for compare-tokens.mjs.

    python3 -m tiny_tools.dump_tokens tokens.json
"""
import argparse
import json
import random
from pathlib import Path

from tiny_tools.conversation import segments
from tiny_tools.mixture import Mixture
from tiny_tools.tokenizer import Tokenizer

HOSTILE = [
    '\u017b\u00f3\u0142\u0107 na\u00efve \u2014 ok?', 'a  b   c', 'line\nbreak\ttab', '{"a":{"b":[1,2,{"c":"d"}]}}', '   ',
    '\u00c0\u00c9\U0001f600', 'HTTPServer_v2.0', '<|hf_call|> as plain text', 'x' * 300, 'the the', '"}}}}}', 'A', 'a',
    'C:\\dir\\f.txt', 'camelCaseName(x?:string[])',
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out', type=Path)
    parser.add_argument('--conversations', type=int, default=500, help='how many to take texts from (default 500)')
    options = parser.parse_args()
    tokenizer, random_source = Tokenizer(), random.Random(5)
    texts = list(HOSTILE)
    for i in range(options.conversations):
        conversation = Mixture(random_source, held_out=i % 2 == 0).conversation()
        texts += [text for _, text, _ in segments(conversation) if text]
    options.out.write_text(json.dumps([[text, tokenizer.encode(text)] for text in texts]))
    print(len(texts), 'texts')


if __name__ == '__main__':
    main()
