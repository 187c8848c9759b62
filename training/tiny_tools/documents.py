"""Texts as tools return them: lines of files and of programs. And what is said of them: their first line."""
from tiny_tools import word_lists as lists
from tiny_tools.frames import SLOT

LINES = [
    '{words}', '{words} {words} {words}.', '{words}.', '{words}, {words}.', '# {words}', '## {noun}', '- {words}', '- {words} ({number})', '* {noun}: {number}',
    '{noun}: {words}', '{name}: "{words}"', '`{path}` {words}', 'Created `{path}` ({number} {noun}, {number} {noun}).', '{number} {noun} match `{word}`.',
    '{path}', '{path}:{number}: {words}', '{path}, {path}', '{word} = {number}', "const {word} = '{noun}';", '{id};{noun};{number}', '"{noun}": {number},',
    '{date} {words}', '{words}? {words}!', '{number}. {words}', '[{word}] {words}', '{noun} | {noun} | {number}', '', '{words} - {words}; {words}',
]


def document(maker):
    """One to six lines. `maker` makes words and values (`Invented`)."""
    makers = {
        'words': lambda: maker.words(1, 6), 'word': maker.fresh, 'noun': lambda: maker.pick(lists.NOUNS), 'number': maker.number,
        'name': lambda: maker.value('name'), 'path': lambda: maker.value('path'), 'id': lambda: maker.value('id'), 'date': lambda: maker.value('date'),
    }
    forms = [maker.pick(LINES) for _ in range(maker.between(1, 6))]
    lines = [SLOT.sub(lambda match: str(makers[match.group(1)]()), form) for form in forms]
    return '\n'.join(lines).strip() or document(maker)


def said_of(text):
    first, *more = text.split('\n')
    return f'{first} ...' if more else first
