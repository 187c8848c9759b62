"""Learns the merges of the vocabulary from generated text. Weights belong to one vocabulary: a new one needs a new training.

    python3 -m tiny_tools.learn_vocabulary --size 2048 --out vocabulary.json
"""
import argparse
import json
import random
from collections import Counter
from pathlib import Path

from tiny_tools.conversation import segments
from tiny_tools.mixture import Mixture
from tiny_tools.tokenizer import CHUNK, FIRST_MERGE, VOCABULARY, Tokenizer


def learn(size, texts):
    """Byte-pair merges over the chunks, for a vocabulary of `size` tokens; the joined strings, best first."""
    words = Counter(chunk for text in texts for chunk in CHUNK.findall(text) if len(chunk) > 1)
    items = [(list(word), count) for word, count in words.items()]
    merges = []
    while len(merges) < size - FIRST_MERGE:
        pairs = Counter()
        for parts, count in items:
            for pair in zip(parts, parts[1:]):
                pairs[pair] += count
        if not pairs:
            break
        a, b = max(pairs, key=lambda pair: (pairs[pair], '\0'.join(pair)))
        for parts, _ in items:
            join(parts, a, b)
        if a + b not in merges:
            merges.append(a + b)
    return merges


def join(parts, a, b):
    """Joins every a that b follows, in place."""
    i = 0
    while i < len(parts) - 1:
        if parts[i] == a and parts[i + 1] == b:
            parts[i:i + 2] = [a + b]
        i += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--size', type=int, default=2048, help='tokens, with bytes and special ones (default 2048)')
    parser.add_argument('--conversations', type=int, default=6000, help='how many to learn from (default 6000)')
    parser.add_argument('--seed', type=int, default=7)
    parser.add_argument('--out', type=Path, default=VOCABULARY, help='file to write (default: the one in use)')
    options = parser.parse_args()
    source = Mixture(random.Random(options.seed))
    texts = [text for _ in range(options.conversations) for _, text, _ in segments(source.conversation())]
    options.out.write_text(json.dumps(learn(options.size, texts), ensure_ascii=False) + '\n')
    tokenizer = Tokenizer(options.out)
    tokens, characters = sum(len(tokenizer.encode(text)) for text in texts), sum(map(len, texts))
    print(f'{tokenizer.size} tokens, {characters / tokens:.2f} characters a token')


if __name__ == '__main__':
    main()
