"""How people type: something before the request, something behind it, with or without a full stop.

Where the request begins or ends with free text, only what a comma or the like sets apart is added: in "note: feed the
cat now" nobody could tell whether the "now" belongs to the note.
"""

APART_OPENINGS = [
    'hey, ', 'hi, ', 'ok, ', 'quick one: ', 'hello! ', 'next, ', 'right, ', 'good morning, ', 'one more thing: ', 'thanks. ',
    'sorry, ', 'well, ',
]
OPENINGS = APART_OPENINGS + ['please ', 'ok so ', 'so ', 'now ', 'also ', 'um ']
APART_CLOSINGS = [', please', ', thanks', ', ok?', ', that would be great', ' - cheers', ', will you?']
CLOSINGS = APART_CLOSINGS + [
    ' please', ' thanks', ' thank you', ' asap', ' now', ' if you can', ' for me', ' when you have a moment', ' right away',
]


def vary(chooser, text, begins_free=False, ends_free=False):
    """The text as a user may type it. `begins_free`, `ends_free`: with a value that is free text, without quotes."""
    if chooser.chance(.15):
        text = chooser.pick(APART_OPENINGS if begins_free else OPENINGS) + text
    if chooser.chance(.12):
        end = text[-1] if text[-1] in '.!?' else ''
        text = text[:-1] if end else text
        closing = chooser.pick(APART_CLOSINGS if ends_free else CLOSINGS)
        text += closing + ('' if closing.endswith('?') or end == '?' and chooser.chance(.3) else end)
    if text[-1] in '.!' and chooser.chance(.3):
        return text[:-1]
    if text[-1] not in '.!?"' and chooser.chance(.15):
        text += chooser.pick('..!')
    return text
