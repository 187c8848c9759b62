"""Frames: things that people ask tools for, with the words of many requests, names and descriptions (../frames/*.json).

One frame in `HELD_OUT_SHARE` is never used in training, so that what is measured on it is a tool and a wording that the
model has not seen. A checksum of its id decides, so a new frame never moves an old one to the other side.

Rivals (../rivals.json) are pairs of frames that do the same thing. Their tools are never offered together, and a held-out
frame whose rival is in training is not used at all. Frames that only share the form of a request ("{} to {}") are never
offered together either: that request would fit both.
"""
import json
import re
import zlib
from itertools import combinations
from pathlib import Path

HERE = Path(__file__).parent.parent
HELD_OUT_SHARE = 12
SLOT = re.compile(r'\{(\w+)\}')


def load(folder=HERE / 'frames'):
    """All frames, in the order of their files."""
    frames = []
    for path in sorted(folder.glob('*.json')):
        for frame in json.loads(path.read_text()):
            frames.append({**frame, 'domain': frame['id'].split('.')[0], 'theme': path.stem})
    return frames


def is_held_out(frame_id):
    return zlib.crc32(frame_id.encode()) % HELD_OUT_SHARE == 0


def request_form(request):
    """The request without its values, capitals and last stop."""
    return SLOT.sub('{}', request.lower()).strip('.!?')


def sharing_a_form(frames):
    """Pairs of ids of frames that share the form of a request."""
    places = {}
    for frame in frames:
        for request in frame['requests']:
            places.setdefault(request_form(request), set()).add(frame['id'])
    return {pair for ids in places.values() for pair in combinations(sorted(ids), 2)}


def neighbours(pairs):
    """id -> ids that stand in a pair with it"""
    rivals = {}
    for a, b in pairs:
        rivals.setdefault(a, set()).add(b)
        rivals.setdefault(b, set()).add(a)
    return rivals


class FrameSet:
    """Frames: all, by domain, and by theme, which is the file that they stand in."""

    def __init__(self, frames):
        self.all = frames
        self.by_domain, self.by_theme = {}, {}
        for frame in frames:
            self.by_domain.setdefault(frame['domain'], []).append(frame)
            self.by_theme.setdefault(frame['theme'], []).append(frame)


FRAMES = load()
# Words that values are made of; not those that join sentences.
WORDS = sorted(
    {word for frame in FRAMES for request in frame['requests'] for word in re.findall(r'[a-z]{5,}', SLOT.sub(' ', request.lower()))}
    - set('please thanks thank right after later there these those would could should about which where while'.split()))
RIVAL_PAIRS = json.loads((HERE / 'rivals.json').read_text())
RIVALS = neighbours(RIVAL_PAIRS)
CONFUSABLE = neighbours([*RIVAL_PAIRS, *sharing_a_form(FRAMES)])


def is_clean(frame):
    """Is every rival of a held-out frame held out too?"""
    return all(is_held_out(rival) for rival in RIVALS.get(frame['id'], ()))


TRAINING = FrameSet([frame for frame in FRAMES if not is_held_out(frame['id'])])
HELD_OUT = FrameSet([frame for frame in FRAMES if is_held_out(frame['id']) and is_clean(frame)])


def are_confusable(one, other):
    """May a request for one be meant for the other? A frame is confusable with itself; None, of a made-up tool, never."""
    if one is None or other is None:
        return False
    return one is other or other['id'] in CONFUSABLE.get(one['id'], ())
