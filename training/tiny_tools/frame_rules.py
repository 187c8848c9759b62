"""What every file of frames has to be, alone and beside the others.

    python3 -m tiny_tools.frame_rules            checks ../frames and ../rivals.json
"""
import json
import re
import sys
from itertools import combinations

from tiny_tools import frames
from tiny_tools.frames import SLOT
from tiny_tools.values import KINDS, POOLS

KEYS = {'id', 'names', 'descriptions', 'params', 'requests', 'results', 'domain', 'theme'}
COUNTS = {'names': (5, 14), 'descriptions': (4, 12), 'requests': (12, 40)}
# In a list "a, b and c", none may look like two.
NEVER_LISTED = {'enum', 'bool'} | {kind for kind, pool in POOLS.items() if any(' and ' in value for value in pool)}
NAME = re.compile(r'[A-Za-z][A-Za-z0-9_.-]{1,40}')


def frame_problems(frame):
    """What is wrong with one frame by itself."""
    if missing := {'id', 'names', 'descriptions', 'params', 'requests'} - set(frame):
        return [f'lacks {", ".join(sorted(missing))}']
    problems = [f'unknown key {key}' for key in sorted(set(frame) - KEYS)]
    for key, (low, high) in COUNTS.items():
        if not low <= len(frame[key]) <= high:
            problems.append(f'{len(frame[key])} {key}, expected {low} to {high}')
        if len(set(frame[key])) < len(frame[key]):
            problems.append(f'one of the {key} twice')
    problems += [f'name {name}' for name in frame['names'] if not NAME.fullmatch(name)]
    for text in frame['descriptions']:
        if not text.isascii() or re.search(r'[;()]|\.$', text):
            problems.append(f'description with ; ( ) or a full stop, or not ASCII: {text}')
    for slot, parameter in frame['params'].items():
        problems += [f'slot {slot}: {problem}' for problem in parameter_problems(parameter)]
    for request in frame['requests']:
        problems += [f'{problem}: {request}' for problem in request_problems(frame, request)]
    for result in frame.get('results', []):
        try:
            json.loads(SLOT.sub('x', result))
        except ValueError as error:
            problems.append(f'result is not JSON ({error}): {result}')
    return problems


def parameter_problems(parameter):
    problems = [] if parameter.get('names') else ['no names']
    kind = parameter.get('kind')
    if kind not in KINDS:
        problems.append(f'unknown kind {kind}')
    if kind == 'enum':
        for options in parameter.get('options') or [[]]:
            if len(options) < 2 or len(set(options)) < len(options) or any(re.search(r'[|,()]', one) for one in options):
                problems.append(f'options {options}')
    if kind == 'bool' and not (parameter.get('true') and parameter.get('false')):
        problems.append('a bool without phrases for true and false')
    if kind == 'bool' and set(parameter.get('true', [])) & set(parameter.get('false', [])):
        problems.append('the same phrase for true and false')
    if kind in NEVER_LISTED and parameter.get('list'):
        problems.append(f'a list of {kind}')
    return problems


def request_problems(frame, request):
    problems = [] if request.isascii() else ['not ASCII']
    slots = SLOT.findall(request)
    problems += [f'unknown slot {slot}' for slot in slots if slot not in frame['params']]
    if re.sub(SLOT, '', request).count('{') or re.sub(SLOT, '', request).count('}'):
        problems.append('a brace without a slot')
    for slot, parameter in frame['params'].items():
        times = slots.count(slot)
        if times > 1 or (times == 0 and not parameter.get('optional')):
            problems.append(f'slot {slot} {times} times')
    return problems


def plain_name(name):
    """The name without the ways of writing it: lock_door, lockDoor and lock-door are one."""
    return re.sub(r'[^a-z0-9]', '', name.lower())


def problems_between(all_frames, rivals):
    """Equal ids; tools of one name in frames that are not declared to do the same; rivals that do not exist."""
    ids = [frame['id'] for frame in all_frames]
    problems = [f'{one}: the id is used twice' for one in sorted(set(ids)) if ids.count(one) > 1]
    owners = {}
    for frame in all_frames:
        for name in frame['names']:
            owners.setdefault(plain_name(name), set()).add(frame['id'])
    declared = {tuple(sorted(pair)) for pair in rivals}
    for name, sharing in sorted(owners.items()):
        for pair in sorted(set(combinations(sorted(sharing), 2)) - declared):
            problems.append(f'{pair[0]} and {pair[1]} share the name {name}: change one, or add the pair to rivals.json')
    problems += [f'rivals.json: there is no frame {one}' for pair in rivals for one in pair if one not in ids]
    return problems


def all_problems(all_frames, rivals):
    alone = [f'{frame.get("id", "?")}: {problem}' for frame in all_frames for problem in frame_problems(frame)]
    return alone + problems_between(all_frames, rivals)


def main():
    problems = all_problems(frames.FRAMES, frames.RIVAL_PAIRS)
    print('\n'.join(problems + [f'{len(frames.FRAMES)} frames, {len(problems)} problems']))
    sys.exit(bool(problems))


if __name__ == '__main__':
    main()
