"""What a case has to be, so that a model can be right: the checks of handmade/cases.jsonl."""
import json
import re

from handmade.writing import schemas
from tiny_tools.conversation import NO_TOOL

TYPES = {
    'string': lambda value: isinstance(value, str),
    'integer': lambda value: type(value) is int,
    'number': lambda value: type(value) in (int, float),
    'boolean': lambda value: type(value) is bool,
}
LONGEST = 1000  # characters of tools, request and steps: about 450 tokens


def stands(value, request):
    """Does the value stand in the request, character by character, as a word or number of its own?"""
    if isinstance(value, str):
        alone = re.search(r'(?<![A-Za-z0-9_])' + re.escape(value) + r'(?![A-Za-z0-9_])', request)
        return alone is not None or f'"{value}"' in request
    return re.search(r'(?<![\w.])' + re.escape(json.dumps(value)) + r'(?!\d|\.\d)', request) is not None


def value_problems(key, value, schema, request):
    if schema.get('type') == 'array':
        if not isinstance(value, list) or not 1 <= len(value) <= 5:
            return [f'{key}: not a list of 1 to 5']
        places = [request.find(str(one)) for one in value]
        problems = [] if places == sorted(places) else [f'{key}: order of the list']
        return problems + [p for one in value for p in value_problems(key, one, schema['items'], request)]
    if 'enum' in schema:
        return [] if value in schema['enum'] else [f'{key}: {value!r} is none of {schema["enum"]}']
    if not TYPES[schema['type']](value):
        return [f'{key}: {value!r} is no {schema["type"]}']
    if schema['type'] == 'boolean' or stands(value, request):
        return []
    return [f'{key}: {value!r} does not stand in the request']


def tool_problems(tool):
    problems = []
    if not re.fullmatch(r'[A-Za-z][A-Za-z0-9_-]*', tool['name']):
        problems.append(f'name {tool["name"]}')
    if not tool['description'] or re.search(r'[;()|.]|  ', tool['description']):
        problems.append(f'description {tool["description"]}')
    required, properties = tool['parameters']['required'], tool['parameters']['properties']
    if list(properties)[:len(required)] != required:
        problems.append(f'a required parameter of {tool["name"]} behind an optional one')
    for key, schema in properties.items():
        one = schema.get('items', schema)
        if not re.fullmatch(r'[A-Za-z_][A-Za-z0-9_]*', key):
            problems.append(f'parameter {key}')
        options = one.get('enum')
        if options is None and one['type'] not in TYPES:
            problems.append(f'type of {key}')
        if options and (len(set(options)) < len(options) or not all(re.fullmatch(r'[A-Za-z0-9_-]+', o) for o in options)):
            problems.append(f'options of {key}')
    return problems


def call_problems(case):
    wanted = case['steps'][0]['call']
    tool = next((tool for tool in case['tools'] if tool['name'] == wanted['name']), None)
    if tool is None:
        return [f'no such tool: {wanted["name"]}']
    properties, given = tool['parameters']['properties'], wanted['arguments']
    problems = []
    if list(given) != [key for key in properties if key in given]:
        problems.append('arguments unknown, or not in the order of the signature')
    problems += [f'{key} is missing' for key in tool['parameters']['required'] if key not in given]
    for key in given.keys() & properties.keys():
        problems += value_problems(key, given[key], properties[key], case['request'])
    return problems


def case_problems(case):
    """What is wrong with one case."""
    problems = [
        f'not plain text: {text!r}' for text in (case['line'], case['request'])
        if not (text and text.isascii() and text.isprintable() and text == text.strip())]
    names = [tool['name'] for tool in case['tools']]
    if case['tools'] != schemas(case['line']) or case['offered'] != len(names):
        problems.append('the tools are not those of the line')
    if len(set(names)) < len(names) or not 2 <= len(names) <= 5:
        problems.append('a tool twice, or not 2 to 5 tools')
    problems += [problem for tool in case['tools'] for problem in tool_problems(tool)]
    if len(case['line']) + len(case['request']) + len(json.dumps(case['steps'])) > LONGEST:
        problems.append('too long')
    if case['kind'] == 'call':
        return problems + call_problems(case)
    return problems + ([] if case['steps'] == [{'say': NO_TOOL}] else ['not the answer without a tool'])


def all_problems(cases):
    problems = [f'case {case["id"]} {case["request"]!r}: {problem}' for case in cases for problem in case_problems(case)]
    requests = [case['request'].lower() for case in cases]
    return problems + [f'twice: {request}' for request in sorted(set(requests)) if requests.count(request) > 1]
