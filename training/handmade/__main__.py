"""Checks the cases and writes them to cases.jsonl; with problems it prints them and writes nothing."""
import json
import sys
from collections import Counter
from pathlib import Path

from handmade import data_and_money, developers, everyday, first, life, unseen, unusual
from handmade.checks import all_problems
from handmade.writing import case

FILE = Path(__file__).with_name('cases.jsonl')
SETS = {'old': [first], 'new': [everyday, developers, data_and_money, life, unusual], 'unseen': [unseen]}


def all_cases():
    cases = []
    for set_name, modules in SETS.items():
        for module in modules:
            for group in module.GROUPS:
                for request in group.requests:
                    cases.append(case(len(cases) + 1, set_name, group, request))
    return cases


def main():
    cases = all_cases()
    if problems := all_problems(cases):
        sys.exit('\n'.join(problems))
    FILE.write_text(''.join(json.dumps(case) + '\n' for case in cases))
    print(len(cases), 'cases', dict(Counter((case['set'], case['kind']) for case in cases)))
    print('tools offered', dict(sorted(Counter(case['offered'] for case in cases).items())))


if __name__ == '__main__':
    main()
