"""Words and values for tools that are put together: partly from lists, partly made up so that they have to be copied."""
import zlib

from tiny_tools import word_lists as lists
from tiny_tools.chooser import Chooser

HELD_OUT_SHARE = 8


def is_held_out(word):
    """A fixed one in eight of all name combinations and made-up words never occurs in training."""
    return zlib.crc32(word.encode()) % HELD_OUT_SHARE == 0


class InventedWords(Chooser):
    """`held_out`: draw only names and words that training never draws."""

    def __init__(self, random_source, held_out=False):
        super().__init__(random_source)
        self.held_out = held_out

    def syllables(self, low=2, high=3):
        """A word of so many syllables."""
        def syllable():
            return self.pick(lists.CONSONANTS) + self.pick(lists.VOWELS) + (self.pick('nrslmt') if self.chance(.3) else '')
        return ''.join(syllable() for _ in range(self.between(low, high)))

    def fresh(self):
        """A made-up word of the right side of the split between training and held-out."""
        while True:
            if self.held_out or self.chance(.5):
                word = self.syllables()
            else:
                word = ''.join(self.pick(lists.FRAGMENTS) for _ in range(self.between(2, 3)))
            if is_held_out(word) == self.held_out and word not in lists.HELD_OUT_NOUNS:
                return word

    def words(self, low, high):
        """So many words with spaces between."""
        return ' '.join(
            self.pick(lists.FILLER) if self.chance(.6) else self.syllables(1, 3) for _ in range(self.between(low, high)))

    def number(self):
        ranges = [self.between(0, 9), self.between(10, 99), self.between(10, 99), self.between(100, 9999)]
        return self.pick(ranges)

    def value(self, kind):
        """A value of one of the kinds of `word_lists.PARAMETERS`, except enum."""
        return getattr(self, 'value_' + kind)()

    def value_name(self):
        x = self.random.random()
        if x < .25:
            return self.pick(lists.CITIES + lists.PEOPLE)
        if x < .40:
            return self.pick(lists.PEOPLE) + ' ' + self.syllables().capitalize()
        if x < .80:
            return self.syllables().capitalize()
        return self.syllables()

    def value_path(self):
        head = self.pick(['', '', '', '', './', '/', '../', '/data/'])
        folders = ''.join(self.syllables(1, 2) + '/' for _ in range(self.pick([0, 0, 0, 1, 1, 2])))
        stem = self.syllables(1, 3)
        tails = ['', '_' + self.syllables(1, 1), '-' + str(self.between(1, 99))] if self.chance(.3) else ['']
        ending = self.pick(tails) + self.pick(['.txt', '.md', '.ts', '.json', '.csv', '.pdf', '.log', '.png'])
        return head + folders + stem + ending

    def value_text(self):
        return self.words(1, 5)

    def value_date(self):
        x = self.random.random()
        if x < .5:
            return '%d-%02d-%02d' % (self.between(2019, 2031), self.between(1, 12), self.between(1, 28))
        if x < .75:
            return self.pick(['Monday', 'Tuesday', 'Friday', 'Sunday', 'tomorrow', 'today', 'tonight'])
        return self.pick(['January', 'March', 'April', 'May', 'July', 'October']) + ' ' + str(self.between(1, 28))

    def value_id(self):
        x = self.random.random()
        if x < .5:
            return self.pick(['INV', 'ORD', 'T', 'AB', 'X', 'REF', 'C', 'PO']) + '-' + str(self.between(1, 9999))
        return self.pick('abcdefghkmnx') + str(self.between(10, 999)) + self.pick(['', '', self.pick('abcdef')])

    def value_email(self):
        user = self.pick(lists.PEOPLE).lower() if self.chance(.4) else self.syllables()
        return user + '@' + self.syllables() + self.pick(['.com', '.org', '.io'])

    def value_url(self):
        site = 'https://' + self.syllables() + self.pick(['.com', '.org', '.io'])
        return site + self.pick(['', '', '/' + self.syllables(1, 2)])

    def value_int(self):
        return self.number() if self.chance(.95) else -self.between(1, 40)

    def value_num(self):
        value = self.pick([
            round(self.random.random() * 10, 1), round(self.random.random() * 100, 2),
            round(self.random.random() * 300, 1), self.between(1, 90)])
        return int(value) if value == int(value) else value  # JavaScript writes 3.0 as 3

    def value_bool(self):
        return self.chance(.5)
