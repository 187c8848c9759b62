import copy
import unittest

from tiny_tools import frame_rules, frames

GOOD = {
    'id': 'home.light_on', 'names': ['light_on', 'lamp_on', 'switchOn', 'make-bright', 'lights'],
    'descriptions': ['switch on a light', 'a lamp on', 'make it bright', 'light up'],
    'params': {'room': {'names': ['room', 'place'], 'kind': 'room'}},
    'requests': [f'number {word}, light in the {{room}}' for word in 'one two three four five six seven eight nine ten a b'.split()],
}


def changed(**keys):
    return {**copy.deepcopy(GOOD), **keys}


class FrameRulesTest(unittest.TestCase):

    def test_our_frames_have_no_problem(self):
        self.assertEqual(frame_rules.all_problems(frames.FRAMES, frames.RIVAL_PAIRS), [])

    def test_a_good_frame_passes(self):
        self.assertEqual(frame_rules.frame_problems(GOOD), [])

    def test_what_a_frame_must_not_be(self):
        requests = GOOD['requests']
        bad = {
            'lacks names': {key: value for key, value in GOOD.items() if key != 'names'},
            'unknown key': changed(colour='red'),
            '3 names': changed(names=GOOD['names'][:3]),
            'names twice': changed(names=GOOD['names'][:4] + ['light_on']),
            'name 1st': changed(names=GOOD['names'][:4] + ['1st']),
            'description with': changed(descriptions=GOOD['descriptions'][:3] + ['it (really) shines']),
            'slot room 0 times': changed(requests=requests[:11] + ['light!']),
            'slot room 2 times': changed(requests=requests[:11] + ['{room} and {room}']),
            'unknown slot': changed(requests=requests[:11] + ['{room} {level}']),
            'not ASCII': changed(requests=requests[:11] + ['{room} \u2013 lights']),
            'a brace without a slot': changed(requests=requests[:11] + ['{room} {']),
            'unknown kind': changed(params={'room': {'names': ['room'], 'kind': 'cave'}}),
            'no names': changed(params={'room': {'names': [], 'kind': 'room'}}),
            'options': changed(params={'room': {'names': ['room'], 'kind': 'enum', 'options': [['hall']]}}),
            'phrases for true': changed(params={'room': {'names': ['room'], 'kind': 'bool', 'true': ['on']}}),
            'same phrase': changed(params={'room': {'names': ['room'], 'kind': 'bool', 'true': ['on'], 'false': ['on']}}),
            'a list of enum': changed(params={
                'room': {'names': ['room'], 'kind': 'enum', 'options': [['hall', 'attic']], 'list': True}}),
            'a list of company': changed(params={'room': {'names': ['room'], 'kind': 'company', 'list': True}}),
            'result is not JSON': changed(results=['{ok}']),
        }
        for words, frame in bad.items():
            with self.subTest(words):
                self.assertIn(words, '\n'.join(frame_rules.frame_problems(frame)))

    def test_an_id_is_used_once(self):
        problems = frame_rules.problems_between([GOOD, changed(names=['a_b', 'b_c', 'c_d', 'd_e', 'e_f'])], [])
        self.assertEqual(problems, ['home.light_on: the id is used twice'])

    def test_a_name_however_written_belongs_to_one_frame_or_to_rivals(self):
        other = changed(id='stage.light', names=['LightOn', 'b_c', 'c_d', 'd_e', 'e_f'])
        self.assertIn('share the name lighton', frame_rules.problems_between([GOOD, other], [])[0])
        self.assertEqual(frame_rules.problems_between([GOOD, other], [['home.light_on', 'stage.light']]), [])
        self.assertIn('no frame', frame_rules.problems_between([GOOD], [['home.light_on', 'stage.light']])[0])


class HeldOutTest(unittest.TestCase):

    def test_the_two_sides_share_no_frame_and_no_rival(self):
        training = {frame['id'] for frame in frames.TRAINING.all}
        held_out = {frame['id'] for frame in frames.HELD_OUT.all}
        self.assertFalse(training & held_out)
        self.assertGreater(len(held_out), 30)
        for one in held_out:
            self.assertFalse(frames.RIVALS.get(one, set()) & training, one)

    def test_the_two_sides_share_no_name_of_a_tool(self):
        def names(side):
            return {frame_rules.plain_name(name) for frame in side.all for name in frame['names']}
        self.assertFalse(names(frames.TRAINING) & names(frames.HELD_OUT))

    def test_the_side_depends_on_the_id_alone(self):
        self.assertTrue(frames.is_held_out('git.diff'))
        self.assertFalse(frames.is_held_out('file.read'))

    def test_frames_that_share_the_form_of_a_request_are_confusable(self):
        a, b, c = changed(id='a.a'), changed(id='b.b'), changed(id='c.c', requests=['play {room} now'])
        self.assertEqual(frames.sharing_a_form([a, b, c]), {('a.a', 'b.b')})
