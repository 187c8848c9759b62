import json
import random
import re
import unittest

from tiny_tools.values import KINDS, POOLS, Values, json_type

PYTHON_TYPES = {'string': str, 'integer': int, 'number': (int, float)}


class ValuesTest(unittest.TestCase):

    def setUp(self):
        self.values = Values(random.Random(1))

    def test_a_label_is_one_word_with_a_digit(self):
        values = Values(random.Random(8))
        labels = [values.label() for _ in range(2000)]
        for label in labels:
            self.assertRegex(label, r'^[A-Z0-9]+([-/._]?[A-Z0-9]+)*$')
            self.assertRegex(label, r'\d')
        self.assertGreater(len(set(labels)), 1500)

    def test_every_kind_gives_values_of_its_type_that_survive_json(self):
        for kind in sorted(KINDS - {'enum', 'bool'}):
            for _ in range(200):
                value = self.values.value(kind)
                with self.subTest(kind=kind, value=value):
                    self.assertIsInstance(value, PYTHON_TYPES[json_type(kind)])
                    self.assertEqual(json.loads(json.dumps(value)), value)
                    self.assertEqual(json.dumps(value).strip('"'), str(value))  # as it is said is as it is written

    def test_texts_are_plain_and_have_no_spaces_at_the_edge(self):
        for kind in sorted(KINDS - {'enum', 'bool'}):
            for _ in range(200):
                text = str(self.values.value(kind))
                self.assertRegex(text, r'^\S([ -~]*\S)?$', kind)
                self.assertNotRegex(text, r'["{}\\]', kind)

    def test_an_email_and_a_username_have_no_spaces(self):
        for kind in ('email', 'username', 'domain', 'host', 'url', 'path', 'filename', 'package', 'branch', 'ref', 'key'):
            for _ in range(300):
                self.assertNotIn(' ', self.values.value(kind), kind)
        for _ in range(300):
            self.assertRegex(self.values.value('email'), r'^[a-z.]+@[a-z]+\.[a-z]+$')

    def test_a_full_name_begins_with_a_first_name(self):
        for _ in range(300):
            self.assertRegex(self.values.value('full_name'), r'^[A-Z][a-z]+ [A-Z][a-z]+$')

    def test_whole_numbers_are_written_as_javascript_writes_them(self):
        for _ in range(2000):
            self.assertIsNone(re.search(r'\.0$', str(self.values.value('amount'))))

    def test_pools_have_no_value_with_an_odd_character(self):
        for kind, pool in POOLS.items():
            for value in pool:
                self.assertRegex(value, r"^[A-Za-z0-9 '-]+$", kind)

    def test_the_same_seed_gives_the_same_values(self):
        def draw():
            values = Values(random.Random(7))
            return [values.value(kind) for kind in sorted(KINDS - {'enum', 'bool'}) for _ in range(5)]
        self.assertEqual(draw(), draw())
