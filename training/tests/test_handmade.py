import json
import unittest

from handmade.__main__ import FILE, all_cases
from handmade.checks import all_problems, case_problems
from tiny_tools import frames


class HandmadeTest(unittest.TestCase):

    def test_the_file_is_the_cases_and_they_have_no_problem(self):
        cases = all_cases()
        self.assertEqual([json.loads(line) for line in FILE.read_text().splitlines()], cases)
        self.assertEqual(all_problems(cases), [])
        self.assertEqual(len(cases), 536)

    def test_what_a_case_must_not_be(self):
        good = next(case for case in all_cases() if case['steps'][0].get('call', {}).get('arguments'))
        call = good['steps'][0]['call']
        bad = {
            'no such tool': {'name': 'other', 'arguments': {}},
            'unknown': {'name': call['name'], 'arguments': {**call['arguments'], 'more': 'x'}},
            'is missing': {'name': call['name'], 'arguments': {}},
            'does not stand': {'name': call['name'], 'arguments': dict.fromkeys(call['arguments'], 'zzz')},
        }
        for words, wrong in bad.items():
            self.assertIn(words, '\n'.join(case_problems({**good, 'steps': [{'call': wrong}]})))

    def test_no_request_is_one_of_a_frame(self):
        """Requests without a value could be the same by chance; those that are would be known."""
        known = {frames.request_form(request) for frame in frames.FRAMES for request in frame['requests']}
        same = [case['request'] for case in all_cases() if frames.request_form(case['request']) in known]
        self.assertEqual(same, [])
