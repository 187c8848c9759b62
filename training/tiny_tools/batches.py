"""Batches of conversations, made while training: here, or by worker processes of their own."""
import random

import torch

from tiny_tools.conversation import segments
from tiny_tools.mixture import Mixture
from tiny_tools.tokenizer import SPECIAL, Tokenizer

DECISION_WEIGHT = 3.0  # of the token that decides between a call and an answer, and of the first ones of the tool's name
NAME_STARTS = 4  # tokens from <|hf_call|> to the tool's name: {" name ":"
NAME_TOKENS = 3
MANY_TOOLS, MANY_TOOLS_SHARE = 10, .15  # most tools that are offered, and how often so many may be, after the drills
DRILLS_SHARE = .3  # of conversations that end with the call, after the drills
POOL = 120  # conversations that are sorted by length together


def pad(examples):
    """Tokens (B T, filled up with eos) and the weight of each in the loss (B T; 0 for what the assistant does not say)."""
    longest = max(len(tokens) for tokens, _ in examples)
    ids = torch.full((len(examples), longest), SPECIAL['eos'])
    weights = torch.zeros(len(examples), longest)
    for row, (tokens, is_assistant) in enumerate(examples):
        ids[row, :len(tokens)] = torch.tensor(tokens)
        weights[row, :len(tokens)] = torch.tensor([float(one) for one in is_assistant])
        for i, token in enumerate(tokens):
            if token in (SPECIAL['call'], SPECIAL['say']):
                weights[row, i] = DECISION_WEIGHT
            if token == SPECIAL['call']:
                weights[row, i + NAME_STARTS:min(i + NAME_STARTS + NAME_TOKENS, len(tokens))] *= DECISION_WEIGHT
    return ids, weights


class BatchSource:
    """Batches of similar length. First short drills in choosing a tool, with fewer tools offered; then everything.

    `tokens`: about how many a batch has; `context`: longer conversations are left out; `easy`: the share of the run
    that drills.
    """

    def __init__(self, seed, tokens, context, easy):
        self.random = random.Random(seed)
        self.tokenizer, self.source = Tokenizer(), Mixture(self.random)
        self.tokens, self.context, self.easy = tokens, context, easy
        self.pool = []

    def next(self, fraction):
        """The next batch. `fraction`: how much of the run has passed, 0 to 1."""
        if not self.pool:
            self.fill(fraction)
        return pad(self.pool.pop())

    def fill(self, fraction):
        most_tools = 3 if fraction < self.easy / 2 else 4 if fraction < self.easy else 5
        many_tools = 0 if fraction < self.easy else MANY_TOOLS_SHARE
        drills = .75 if fraction < self.easy else DRILLS_SHARE
        examples = []
        while len(examples) < POOL:
            make = self.source.drill if self.random.random() < drills else self.source.conversation
            most = MANY_TOOLS if self.random.random() < many_tools else most_tools
            example = self.tokenizer.example(segments(make(max_tools=most)))
            if len(example[0]) <= self.context:
                examples.append(example)
        examples.sort(key=lambda example: len(example[0]))
        batch = []
        for example in examples:
            if batch and len(example[0]) * (len(batch) + 1) > self.tokens:
                self.pool.append(batch)
                batch = []
            batch.append(example)
        self.pool.append(batch)
        self.random.shuffle(self.pool)


def produce(arguments, fraction, queue):
    """A worker: fills the queue for ever."""
    torch.set_num_threads(1)
    source = BatchSource(*arguments)
    while True:
        queue.put(source.next(fraction.value))


class WorkerBatches:
    """As BatchSource, from so many processes that make batches ahead."""

    def __init__(self, workers, seed, *arguments):
        context = torch.multiprocessing.get_context('spawn')
        self.fraction, self.queue = context.Value('d', 0.0), context.Queue(4 * workers)
        for i in range(workers):
            context.Process(target=produce, args=((seed + i, *arguments), self.fraction, self.queue), daemon=True).start()

    def next(self, fraction):
        self.fraction.value = fraction
        return self.queue.get()
