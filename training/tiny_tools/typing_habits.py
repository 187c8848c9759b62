"""How people type: something before the request, something behind it, with or without a full stop.

Where the request begins or ends with a bare value, only what a comma or the like sets apart is added: in "note: feed the
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


def vary(chooser, text, first_form, last_form):
    """The text as somebody may type it. The forms say where slots stand: whether it begins or ends with a value."""
    if chooser.chance(.15):
        text = chooser.pick(APART_OPENINGS if first_form[0] == '{' else OPENINGS) + text
    if chooser.chance(.12):
        end = text[-1] if text[-1] in '.!?' else ''
        text = text[:-1] if end else text
        ends_with_value = last_form.rstrip('.!?').endswith('}')
        closing = chooser.pick(APART_CLOSINGS if ends_with_value else CLOSINGS)
        text += closing + ('' if closing.endswith('?') or end == '?' and chooser.chance(.3) else end)
    if text[-1] in '.!' and chooser.chance(.3):
        return text[:-1]
    if text[-1] not in '.!?"' and chooser.chance(.15):
        text += chooser.pick('..!')
    return text
