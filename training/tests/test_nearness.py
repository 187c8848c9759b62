import json
import unittest
from pathlib import Path

from tiny_tools.nearness import misleads, ranked

CASES = json.loads(Path(__file__).with_name('ranks.json').read_text())


class NearnessTest(unittest.TestCase):

    def test_ranks_are_those_of_the_package(self):
        for case in CASES:
            with self.subTest(case['request']):
                self.assertEqual(ranked(case['signatures'], case['request']), case['ranked'])

    def test_a_request_misleads_when_one_other_tool_has_more_of_it(self):
        tools = ['open_door(room:string) open a door', 'open_window(room:string) air a room', 'stop() halt']
        for request, wanted, expected in [
            ('air the hall', 0, True), ('air the hall', 1, False), ('open it', 0, False), ('open it', 2, False),
            ('nothing', 2, False), ('open the door', 2, True), ('open the door', 0, False),
        ]:
            with self.subTest(f'{request}, wanted {wanted}'):
                self.assertEqual(misleads(tools, request, wanted), expected)
