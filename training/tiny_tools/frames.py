"""Frames: things that people ask tools for, with the words of many requests, names and descriptions (../frames/*.json).

One frame in `HELD_OUT_SHARE` is never used in training, so that what is measured on it is a tool and a wording that the
model has not seen. A checksum of its id decides, so a new frame never moves an old one to the other side.
"""
import json
import zlib
from pathlib import Path

FOLDER = Path(__file__).parent.parent / 'frames'
HELD_OUT_SHARE = 12


def load(folder=FOLDER):
    """All frames, in the order of their files."""
    frames = [frame for path in sorted(folder.glob('*.json')) for frame in json.loads(path.read_text())]
    for frame in frames:
        frame['domain'] = frame['id'].split('.')[0]
    return frames


def is_held_out(frame):
    return zlib.crc32(frame['id'].encode()) % HELD_OUT_SHARE == 0


class FrameSet:
    """Frames, all and by domain."""

    def __init__(self, frames):
        self.all = frames
        self.by_domain = {}
        for frame in frames:
            self.by_domain.setdefault(frame['domain'], []).append(frame)


FRAMES = load()
TRAINING = FrameSet([frame for frame in FRAMES if not is_held_out(frame)])
HELD_OUT = FrameSet([frame for frame in FRAMES if is_held_out(frame)])
