"""Prints conversations, or writes held-out cases for evaluate.mjs.

    python3 -m tiny_tools.generate --samples 12
    python3 -m tiny_tools.generate --cases 300 --seed 20261 --out held-out.jsonl
"""
import argparse
import random

from tiny_tools.conversation import compact_json, evaluation_case, segments
from tiny_tools.mixture import Mixture
from tiny_tools.tokenizer import special_text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--samples', type=int, default=12, help='conversations to print (default 12)')
    parser.add_argument('--held-out', action='store_true', help='print what training never draws')
    parser.add_argument('--cases', type=int, default=0, help='held-out cases to write')
    parser.add_argument('--out', default='held-out.jsonl', help='file for the cases')
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    if options.cases:
        source = Mixture(random.Random(options.seed), held_out=True)
        with open(options.out, 'w') as out:
            for number in range(1, options.cases + 1):
                out.write(compact_json(evaluation_case(source.conversation(), number)) + '\n')
        return
    source = Mixture(random.Random(options.seed), options.held_out)
    for _ in range(options.samples):
        print(''.join(special_text(what) + text for what, text, _ in segments(source.conversation())), '\n')


if __name__ == '__main__':
    main()
