"""Batches of conversations, made while training: here, or by worker processes of their own."""
import random

import torch

from tiny_tools.conversation import segments
from tiny_tools.mixture import Mixture
from tiny_tools.tokenizer import SPECIAL, Tokenizer

# Of the tools, requests and results: what is asked of which tool is learned from them too.
OTHERS_WEIGHT = 0.15
DECISION_WEIGHT = 3.0  # of the token that decides between a call and an answer, and of the first ones of the tool's name
NAME_STARTS = 4  # tokens from <|hf_call|> to the tool's name: {" name ":"
NAME_TOKENS = 3
MANY_TOOLS, MANY_TOOLS_SHARE = 10, .15  # most tools that are offered, and how often so many may be, after the drills
DRILLS_SHARE = .5  # of conversations that end with the call, after the drills
LENGTH_STEP = 32  # tokens; lengths are rounded up to it


def pad(examples, length):
    """Tokens (B T, filled up with eos) and the weight of each in the loss (B T; 0 behind a conversation)."""
    ids = torch.full((len(examples), length), SPECIAL['eos'])
    weights = torch.zeros(len(examples), length)
    for row, (tokens, is_assistant) in enumerate(examples):
        ids[row, :len(tokens)] = torch.tensor(tokens)
        weights[row, :len(tokens)] = torch.tensor([1 if one else OTHERS_WEIGHT for one in is_assistant])
        for i, token in enumerate(tokens):
            if token in (SPECIAL['call'], SPECIAL['say']):
                weights[row, i] = DECISION_WEIGHT
            if token == SPECIAL['call']:
                weights[row, i + NAME_STARTS:min(i + NAME_STARTS + NAME_TOKENS, len(tokens))] *= DECISION_WEIGHT
    return ids, weights


class BatchSource:
    """Batches of similar length. First short drills in choosing a tool, with fewer tools offered; then everything.

    Few shapes: lengths are rounded up, and a batch is given when it has its rows. Every new shape costs a network that is
    compiled for its shapes time, and memory that it never gives back.

    `tokens`: about how many a batch has; `context`: longer conversations are left out; `easy`: the share of the run
    that drills.
    """

    def __init__(self, seed, tokens, context, easy):
        self.random = random.Random(seed)
        self.tokenizer, self.source = Tokenizer(), Mixture(self.random)
        self.tokens, self.context, self.easy = tokens, context, easy
        self.waiting = {}  # length -> conversations of incomplete batches

    def next(self, fraction):
        """The next batch. `fraction`: how much of the run has passed, 0 to 1."""
        while True:
            example = self.example(fraction)
            # The last token is only predicted, so the network sees one less.
            length = -(-(len(example[0]) - 1) // LENGTH_STEP) * LENGTH_STEP + 1
            rows = self.waiting.setdefault(length, [])
            rows.append(example)
            if len(rows) >= max(1, self.tokens // length):
                return pad(self.waiting.pop(length), length)

    def example(self, fraction):
        """The tokens of a conversation that fits, and which of them the assistant says."""
        drills = .75 if fraction < self.easy else DRILLS_SHARE
        most_tools = 3 if fraction < self.easy / 2 else 4 if fraction < self.easy else 5
        if fraction >= self.easy and self.random.random() < MANY_TOOLS_SHARE:
            most_tools = MANY_TOOLS
        make = self.source.drill if self.random.random() < drills else self.source.conversation
        example = self.tokenizer.example(segments(make(max_tools=most_tools)))
        return example if len(example[0]) <= self.context else self.example(fraction)


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
