"""How the cases are written down: groups of requests to the same offered tools."""
from typing import NamedTuple

from tiny_tools.conversation import NO_TOOL


class Request(NamedTuple):
    """A request and the call that it wants, or None. `is_near`: no tool fits, but one is close."""

    text: str
    wanted: tuple = None
    is_near: bool = False


class Group(NamedTuple):
    """`unusual`: a place that programs rarely deal with."""

    domain: str
    line: str
    requests: list
    unusual: bool


def group(domain, *tools_and_requests, unusual=False):
    """`tools_and_requests`: every tool as it stands in the tools line, then the list of requests."""
    *tools, requests = tools_and_requests
    return Group(domain, '; '.join(tools), requests, unusual)


def call(text, tool, /, **arguments):
    return Request(text, (tool, arguments))


def args(text, tool, arguments):
    """As `call`, for names of parameters that Python keeps for itself, such as "from"."""
    return Request(text, (tool, arguments))


def near(text):
    """No tool fits, but one is close."""
    return Request(text, is_near=True)


def none(text):
    """No tool fits."""
    return Request(text)


def schemas(line):
    """The tools of a tools line with JSON schemas: the inverse of `conversation.tools_line`."""
    tools = []
    for part in line.split('; '):
        signature, description = part.split(') ', 1)
        name, parameters = signature.split('(')
        properties, required = {}, []
        for parameter in parameters.split(',') if parameters else []:
            key, type_text = parameter.split(':')
            if not key.endswith('?'):
                required.append(key)
            item_type = type_text.removesuffix('[]')
            one = {'enum': item_type.split('|')} if '|' in item_type else {'type': item_type}
            properties[key.rstrip('?')] = {'type': 'array', 'items': one} if type_text.endswith('[]') else one
        tools.append({
            'name': name, 'description': description, 'parameters': {
                'type': 'object', 'properties': properties, 'required': required, 'additionalProperties': False}})
    return tools


def case(number, set_name, of, request):
    """A case for evaluate.mjs. `of`: its group."""
    if request.wanted:
        kind, steps = 'call', [{'call': {'name': request.wanted[0], 'arguments': request.wanted[1]}}]
    else:
        kind, steps = 'none', [{'say': NO_TOOL}]
    tools = schemas(of.line)
    made = {
        'id': number, 'set': set_name, 'domain': of.domain, 'unusual': of.unusual, 'kind': kind, 'offered': len(tools),
        'line': of.line, 'request': request.text, 'tools': tools, 'steps': steps,
    }
    return made if request.wanted else {**made, 'near': request.is_near}
