"""Which of the offered tools have words of a request. The prompt says so: a network this small matches words badly itself.

The package of the model does the same when it is used (`rank-tools.ts`); `tests/models/training.test.ts` holds both to one file of cases.
"""
import functools
import re

# Words that say nothing of what is wanted, and the types of parameters.
COMMON = frozenset(
    'a an the of to in on for and or is it be that this with by at from i me my you we us our please do does can could would '
    'should what how much many get got have has not no are was string number integer boolean'.split()
)
ENDINGS = ('ing', 'es', 'ed', 's', 'e')
SHORTEST_STEM = 3  # letters
WEIGHT = 60  # of a word, shared by the tools that have it
HALF, MOST = 30, 9  # a rank is the weight in halves of a word, at most this


@functools.lru_cache(1 << 16)
def stem(word):
    """The word without its first ending of ENDINGS that leaves enough of it."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
            return word[:-len(ending)]
    return word


def stems(text):
    """The stems of a text's words, each once, in order; also of those within `readFile` and `read_file`."""
    words = re.findall(r'[^\W\d_]+', re.sub(r'([a-z])([A-Z])', r'\1 \2', text).lower())
    return list(dict.fromkeys(stem(word) for word in words if word not in COMMON))


@functools.lru_cache(1 << 12)
def stems_of_tool(text):
    return frozenset(stems(text))


def weigh(texts, request):
    """How much of the request each of the tools has, in parts of WEIGHT."""
    known = [stems_of_tool(text) for text in texts]
    weights = [0] * len(texts)
    for word in stems(request):
        having = [i for i, one in enumerate(known) if word in one]
        for i in having:
            weights[i] += WEIGHT // len(having)
    return weights


def misleads(texts, request, wanted):
    """Does another tool than `wanted`, the number of a text, have more of the request than all others?"""
    weights = weigh(texts, request)
    most = max(weights)
    return weights[wanted] < most and weights.count(most) == 1


def ranked(texts, request):
    """The texts of the tools, nearest to the request first, each behind its rank from 0 to 9 and a space."""
    weights = weigh(texts, request)
    nearest_first = sorted(range(len(texts)), key=lambda i: -weights[i])
    return [f'{min(MOST, -(-weights[i] // HALF))} {texts[i]}' for i in nearest_first]
