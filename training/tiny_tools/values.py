"""Values of the kinds that frames name: half from lists of plausible ones, half made up, so that a model has to copy them.

`Values(random).value(kind)` gives one as JSON has it. A kind with a method `make_KIND` is made there, all others come
from value_pools.json.
"""
import json
from pathlib import Path

from tiny_tools.chooser import Chooser
from tiny_tools.frames import WORDS

POOLS = json.loads(Path(__file__).with_name('value_pools.json').read_text())
CONSONANTS, VOWELS = 'bcdfghjklmnprstvwz', 'aeiou'
FRAGMENTS = '''bra cho dri ell fen gro hux ist jok kli mon nex op pra qui ros shu tri und vex wol xan yor zeb ack ble cre dge
eft ful ght ing ump erk ost ail oon ief ard ulk asp ent ich oth ave ike ome ute ine age ure ist ous ant ell ock ash ump amp
ind eam oat eel awn ew ay scr spl thr wh ph str sk sm sn sw tw'''.split()
FIRST_NAMES = [name for name in POOLS['person'] if name.isalpha() and name[0].isupper()]
MADE_UP = {'person', 'city', 'company', 'product', 'song', 'artist', 'movie', 'book', 'device', 'team'}  # two in five are
CAPITALISED = {'person', 'city', 'company', 'song', 'artist', 'movie', 'book', 'team', 'country'}
TWO_WORDS = {'song', 'movie', 'book', 'person', 'artist', 'city', 'company', 'team'}
ENDINGS = '.txt .md .ts .py .json .csv .pdf .log .png .jpg .yaml .html .sql .zip .docx .xml'.split()
MONTHS = 'January February March April May June July August September October November December'.split()
WEEKDAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split()
DAYS = ['today', 'tomorrow', 'tonight', 'next week', 'this weekend', *WEEKDAYS, *(day.lower() for day in WEEKDAYS)]
INTEGERS = {'int', 'small', 'minutes', 'year', 'percent'}
NUMBERS = {'amount', 'number', 'degrees', 'distance', 'weight'}


def json_type(kind):
    """The JSON type of a value of the kind."""
    if kind in INTEGERS:
        return 'integer'
    if kind in NUMBERS:
        return 'number'
    return 'boolean' if kind == 'bool' else 'string'


class Values(Chooser):

    def value(self, kind):
        make = getattr(self, 'make_' + kind, None)
        if make:
            return make()
        if kind in MADE_UP and self.chance(.4):
            word = self.made_up()
            if kind in CAPITALISED:
                word = word.capitalize()
            if kind in TWO_WORDS and self.chance(.4):
                word += ' ' + self.made_up().capitalize()
            return word
        return self.pick(POOLS[kind])

    # ---- words
    def made_up(self):
        """A word that is none."""
        if self.chance(.5):
            return ''.join(self.pick(FRAGMENTS) for _ in range(self.between(1, 2) + 1))
        def syllable():
            return self.pick(CONSONANTS) + self.pick(VOWELS) + (self.pick('nrslmt') if self.chance(.3) else '')
        return ''.join(syllable() for _ in range(self.between(2, 3)))

    def words(self, low, high):
        count = self.between(low, high)
        return ' '.join(self.real_word() if self.chance(.85) else self.made_up() for _ in range(count))

    def real_word(self):
        return self.pick(POOLS['word'] if self.chance(.5) else WORDS)

    def stem(self):
        return self.real_word() if self.chance(.6) else self.made_up()

    def make_word(self):
        return self.stem()

    def make_query(self):
        return self.words(2, 4)

    def make_topic(self):
        return self.pick(POOLS['topic']) if self.chance(.6) else self.words(1, 3)

    def make_text(self):
        return self.pick(POOLS['text']) if self.chance(.5) else self.words(2, 7)

    def make_title(self):
        text = self.words(2, 4)
        return text[0].upper() + text[1:] if self.chance(.6) else text

    # ---- people and places
    def make_full_name(self):
        return self.pick(FIRST_NAMES) + ' ' + self.made_up().capitalize()

    def make_address(self):
        number = self.between(1, 250)
        name = self.pick(POOLS['word']) if self.chance(.5) else self.made_up()
        return f"{number} {name.capitalize()} {self.pick('Street Road Lane Avenue Square'.split())}"

    def make_email(self):
        first, last = self.pick(FIRST_NAMES).lower(), self.made_up()
        return self.pick([first, last, first + '.' + last]) + '@' + self.make_domain()

    def make_username(self):
        first, word = self.pick(FIRST_NAMES).lower(), self.made_up()
        return self.pick([first, word, word + str(self.between(1, 99)), first + '_' + word])

    def make_phone(self):
        return self.pick([
            '+%d %d %d' % (self.between(1, 99), self.between(100, 999), self.between(100000, 999999)),
            '%03d-%04d' % (self.between(100, 999), self.between(0, 9999)),
            '0' + str(self.between(100000000, 999999999))])

    # ---- time
    def make_weekday(self):
        return self.pick(WEEKDAYS)

    def make_month(self):
        return self.pick(MONTHS)

    def make_day(self):
        return self.pick(DAYS)

    def make_date(self):
        if self.chance(.7):
            return '%d-%02d-%02d' % (self.between(2019, 2034), self.between(1, 12), self.between(1, 28))
        return '%s %d' % (self.pick(MONTHS), self.between(1, 28))

    def make_time(self):
        if self.chance(.7):
            return '%d:%02d' % (self.between(0, 23), self.pick([0, 15, 30, 45, self.between(0, 59)]))
        return '%d%s' % (self.between(1, 12), self.pick(['am', 'pm', ' pm']))

    def make_datetime(self):
        if self.chance(.5):
            day = '%d-%02d-%02d' % (self.between(2023, 2032), self.between(1, 12), self.between(1, 28))
            return day + 'T%02d:%02d' % (self.between(0, 23), self.pick([0, 15, 30, 45]))
        return self.make_day() + ' at ' + self.make_time()

    # ---- files and the web
    def make_filename(self):
        stem = self.stem()
        tails = ['', '', '', '_' + self.stem(), '-' + str(self.between(1, 99)), '.test']
        return stem + self.pick(tails) + self.pick(ENDINGS)

    def make_folder(self):
        head = self.pick(['', '', './', '/', '~/'])
        return head + '/'.join(self.stem() for _ in range(self.between(1, 2))) + self.pick(['', '', '/'])

    def make_path(self):
        head = self.pick(['', '', '', './', '/', '../'])
        return head + ''.join(self.stem() + '/' for _ in range(self.pick([0, 1, 1, 2]))) + self.make_filename()

    def make_domain(self):
        return self.stem() + self.pick(['.com', '.org', '.io', '.net', '.dev'])

    def make_host(self):
        numbered = self.stem() + '-' + str(self.between(1, 30))
        return self.pick([numbered, self.stem() + '.' + self.make_domain(), self.stem() + str(self.between(1, 9)), 'localhost'])

    def make_url(self):
        site = 'https://' + self.make_domain()
        return site + self.pick(['', '', '/' + self.stem(), '/' + self.stem() + '/' + self.stem(), '/' + self.stem() + '.html'])

    def make_ip(self):
        return '.'.join(str(self.between(1, 254)) for _ in range(4))

    # ---- what programs name
    def label(self):
        """Letters and digits in one to four parts, as things are labelled: K7, A-1203-X, 17/B, 203-55-9."""
        def letters():
            return ''.join(self.pick('ABCDEFGHJKLMNPQRSTUVWXYZ') for _ in range(self.between(1, 3)))
        def digits():
            return ''.join(self.pick('0123456789') for _ in range(self.pick([1, 2, 2, 3, 4, 5])))
        parts = [self.pick([letters, digits])() for _ in range(self.pick([2, 2, 2, 3, 3, 4]))]
        if all(part.isalpha() for part in parts):
            parts[-1] = digits()
        return self.pick(['-', '-', '', '', '/', '.', '_']).join(parts)

    def make_code(self):
        if self.chance(.5):
            return self.label()
        letters = self.pick(['INV', 'ORD', 'T', 'AB', 'X', 'REF', 'C', 'PO', 'BK', 'QX', 'ZR'])
        return letters + self.pick(['-', '-', '']) + str(self.between(1, 99999))

    def make_ref(self):
        if self.chance(.4):
            label = self.label()
            return label.lower() if self.chance(.5) else label
        letter = self.pick('abcdefghkmnxqz')
        return letter + ''.join(self.pick('abcdef0123456789') for _ in range(self.between(3, 7)))

    def make_version(self):
        if self.chance(.8):
            return '%d.%d.%d' % (self.between(0, 12), self.between(0, 30), self.between(0, 20))
        return 'v%d.%d' % (self.between(0, 12), self.between(0, 30))

    def make_branch(self):
        release = 'release/' + self.make_version()
        return self.pick(['main', 'dev', release, 'feature/' + self.stem(), 'fix-' + self.stem(), self.stem()])

    def make_package(self):
        scope = self.pick(['', '', '@' + self.stem() + '/'])
        return scope + self.stem() + self.pick(['', '', '-' + self.stem()])

    def make_key(self):
        snake, dotted = self.stem() + '_' + self.stem(), self.stem() + '.' + self.stem()
        return self.pick([snake, dotted, (self.stem() + '_' + self.stem()).upper(), self.stem()])

    def make_tag(self):
        return self.stem() + self.pick(['', '', '-' + self.stem()])

    def make_table(self):
        return self.stem() + self.pick(['', 's', '_' + self.stem()])

    def make_column(self):
        return self.make_table()

    def make_expression(self):
        a, b, c = (self.between(1, 99) for _ in range(3))
        return self.pick([
            f'{a} + {b}', f'{a} * {b}', f'{a} * ({b} + {c})', f'{a} / {b}', f'({a} - {b}) * {c}',
            f'{a}^{self.between(2, 5)}', f'sqrt({a})'])

    # ---- numbers
    def make_int(self):
        ranges = [self.between(0, 9), self.between(10, 99), self.between(10, 99), self.between(100, 9999)]
        return self.pick(ranges)

    def make_small(self):
        return self.between(1, 20)

    def make_minutes(self):
        return self.pick([self.between(1, 60), self.pick([5, 10, 15, 20, 25, 30, 45, 60, 90, 120])])

    def make_year(self):
        return self.between(1900, 2040)

    def make_percent(self):
        return self.pick([self.between(0, 100), self.pick([10, 20, 25, 50, 75, 100])])

    def decimal(self, top):
        """A number up to `top` with at most two decimals."""
        value = self.pick([
            round(self.random.random() * top, 1), round(self.random.random() * top, 2),
            self.between(1, top), self.between(1, top)])
        return int(value) if value == int(value) else value  # JavaScript writes 3.0 as 3

    def make_amount(self):
        return self.decimal(self.pick([20, 100, 900, 5000]))

    def make_number(self):
        return self.decimal(self.pick([10, 100, 1000]))

    def make_degrees(self):
        return self.decimal(self.pick([30, 40, 220]))

    def make_distance(self):
        return self.decimal(self.pick([10, 100, 900]))

    def make_weight(self):
        return self.decimal(self.pick([5, 100, 500]))


KINDS = {name.removeprefix('make_') for name in dir(Values) if name.startswith('make_')} | set(POOLS) | {'enum', 'bool'}
