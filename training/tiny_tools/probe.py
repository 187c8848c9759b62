"""How often the model is right, teacher-forced: the same as greedy decoding where every token is right."""
import random

import torch

from tiny_tools.batches import NAME_STARTS, pad
from tiny_tools.conversation import segments
from tiny_tools.mixture import Mixture
from tiny_tools.tokenizer import SPECIAL

BATCH = 32


def spans(tokens):
    """[(call or say, its place, the place of its end)] of what the assistant says."""
    found, start = [], None
    for i, token in enumerate(tokens):
        if token in (SPECIAL['call'], SPECIAL['say']):
            start = i
        if token == SPECIAL['end']:
            found.append((tokens[start], start, i))
    return found


@torch.no_grad()
def probe(model, tokenizer, device='cpu', held_out=True, count=192, seed=99):
    """Counts: `tool` and `exact` of `calls`, `refused` of `none` (no tool fits), `overcautious` (refused a call), `said`
    of `answers` (after a result), `second_exact` of `second` (calls after a result)."""
    source = Mixture(random.Random(seed), held_out)
    cases = [source.conversation() for _ in range(count)]
    encoded = [tokenizer.example(segments(case)) for case in cases]
    fitting = [i for i in range(count) if len(encoded[i][0]) <= model.config['context']]
    order = sorted(fitting, key=lambda i: len(encoded[i][0]))
    names = 'calls tool exact none refused overcautious answers said second second_exact'
    counts = dict.fromkeys(names.split(), 0)
    for start in range(0, len(order), BATCH):
        part = order[start:start + BATCH]
        ids, _ = pad([encoded[i] for i in part], max(len(encoded[i][0]) for i in part))
        right = model(ids.to(device)).argmax(-1).cpu()[:, :-1] == ids[:, 1:]  # [row, i]: is token i + 1 predicted?
        for row, i in zip(right, part):
            add(counts, row, cases[i], encoded[i][0], tokenizer)
    return counts


def add(counts, right, case, tokens, tokenizer):
    """Counts one conversation. right[i]: the token at i + 1 is predicted."""
    found = spans(tokens)
    whole = [bool(right[start - 1:end].all()) for _, start, end in found]
    if case.kind == 'none':
        counts['none'] += 1
        counts['refused'] += whole[0]
        return
    start = found[0][1]
    name = case.steps[0][1][0]
    name_ends = start + NAME_STARTS + len(tokenizer.encode(name))
    counts['calls'] += 1
    counts['exact'] += whole[0]
    counts['tool'] += bool(right[start - 1:name_ends].all())
    counts['overcautious'] += not bool(right[start - 1])
    if found[-1][0] == SPECIAL['say']:
        counts['answers'] += 1
        counts['said'] += whole[-1]
    if len(found) == 3:
        counts['second'] += 1
        counts['second_exact'] += whole[1]
