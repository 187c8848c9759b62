"""How people type: something before the request, something behind it, with or without a full stop."""

OPENINGS = [
    'please ', 'hey, ', 'hi, ', 'ok, ', 'ok so ', 'so ', 'quick one: ', 'hello! ', 'now ', 'next, ', 'also ', 'right, ', 'um ',
    'good morning, ', 'one more thing: ', 'thanks. ', 'sorry, ', 'well, ',
]
CLOSINGS = [
    ' please', ', please', ' thanks', ', thanks', ' thank you', ' asap', ' now', ' if you can', ', ok?', ' for me',
    ' when you have a moment', ', that would be great', ' - cheers', ' right away', ', will you?',
]


def vary(chooser, text):
    if chooser.chance(.15):
        text = chooser.pick(OPENINGS) + text
    if chooser.chance(.12):
        end = text[-1] if text[-1] in '.!?' else ''
        text = text[:-1] if end else text
        text += chooser.pick(CLOSINGS) + ('' if end == '?' and chooser.chance(.3) else end)
    if text[-1] in '.!' and chooser.chance(.3):
        return text[:-1]
    if text[-1] not in '.!?"' and chooser.chance(.15):
        text += chooser.pick('..!')
    return text
