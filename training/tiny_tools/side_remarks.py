"""What people say beside a request: about themselves, others, the reason. Its names and numbers are none of the request's.

The author of the remarks had not seen the hand-made cases (side_remarks.json).
"""
import json
from pathlib import Path

from tiny_tools.frames import SLOT
from tiny_tools.values import FIRST_NAMES

REMARKS = json.loads(Path(__file__).with_name('side_remarks.json').read_text())


def filled(values, remark):
    """The remark with a value for each slot: of the kind that the slot names, {name} being a first name."""
    return SLOT.sub(lambda m: values.pick(FIRST_NAMES) if m[1] == 'name' else str(values.value(m[1])), remark)


def with_remark(values, text, begins_free=False, ends_free=False):
    """The text behind a remark or before one. Beside free text without quotes nobody could tell them apart: no remark then."""
    if values.chance(.6) and not begins_free:
        return filled(values, values.pick(REMARKS['before'])) + text
    if ends_free:
        return text
    remark = filled(values, values.pick(REMARKS['after']))
    if text.endswith('?') and remark.startswith(('. ', '! ')):
        return text + remark[1:]
    return text.rstrip('.!?') + remark
