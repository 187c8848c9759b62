"""What a conversation is made of, and its form as text for the model and as an evaluation case.

    <s><|hf_user|>make the hall red<|hf_tools|>2 set_light(room:string,color?:red|green) change the light; 0 stop() halt
    <|hf_user|>make the hall red<|hf_call|>{"name":"set_light","arguments":{"room":"hall","color":"red"}}<|hf_end|>
    <|hf_result|>{"ok":true}<|hf_say|>Done.<|hf_end|>

(without the line breaks). The weights depend on this form. The request comes first, so that what is read of a tool can be
compared with it at once; a network this small is lost when it has to remember all tools until it knows what is asked. It
comes once more to end the line of tools, which nothing else ends. What the numbers are stands in `nearness.py`.
"""
import json
from dataclasses import dataclass, field

from tiny_tools.nearness import ranked

NO_TOOL = 'I have no tool for that.'


@dataclass
class Parameter:
    """One parameter of a tool. `type` is its JSON type (of an item, for a list); `options` are the words of an enum."""

    name: str
    kind: str
    type: str
    options: list = None
    optional: bool = False
    is_list: bool = False
    slot: str = None
    phrases: dict = None  # bool in a frame: {True: [...], False: [...]}


@dataclass
class Tool:
    """A tool as it is offered. Where it comes from: a frame, or a verb and a noun that were put together."""

    name: str
    description: str
    parameters: list
    frame: dict = None
    verb: str = None
    other_verb: str = None  # the verb that the description uses
    noun: str = None
    thing: str = None  # the noun with its adjective

    def parameter_of_slot(self, slot):
        """The parameter that takes the slot's value, or None if this tool has none."""
        return next((parameter for parameter in self.parameters if parameter.slot == slot), None)


@dataclass
class Conversation:
    """`kind`: call, none (no tool fits), chain or pair (two calls). `steps`: (what, content), what being call
    (a pair of name and arguments), result (an object) or say (a text)."""

    kind: str
    tools: list
    request: str
    steps: list = field(default_factory=list)


def compact_json(value):
    """JSON as JavaScript's JSON.stringify writes it."""
    return json.dumps(value, separators=(',', ':'), ensure_ascii=False)


def call_text(name, arguments):
    return compact_json({'name': name, 'arguments': arguments})


def parameter_text(parameter):
    """name:type, with ? behind the name of an optional one and [] behind the type of a list."""
    type_text = '|'.join(parameter.options) if parameter.options else parameter.type
    return parameter.name + ('?' if parameter.optional else '') + ':' + type_text + ('[]' if parameter.is_list else '')


def tool_text(tool):
    """Signature, space, description."""
    return f"{tool.name}({','.join(map(parameter_text, tool.parameters))}) {tool.description}"


def tools_line(tools, request):
    """All offered tools in one line, nearest to the request first, each behind its rank; joined by `; `."""
    return '; '.join(ranked([tool_text(tool) for tool in tools], request))


def segments(conversation):
    """The conversation as [(special token, text behind it, is it the assistant who says it?)]."""
    asked = ('user', conversation.request, False)
    line = tools_line(conversation.tools, conversation.request)
    parts = [('bos', '', False), asked, ('tools', line, False), asked]
    for what, content in conversation.steps:
        text = call_text(*content) if what == 'call' else content if what == 'say' else compact_json(content)
        is_assistant = what != 'result'
        parts.append((what, text, is_assistant))
        if is_assistant:
            parts.append(('end', '', True))
    return parts


def schema(tool):
    """Name, description and the JSON schema of the arguments."""
    properties = {}
    for parameter in tool.parameters:
        one = {'enum': parameter.options} if parameter.options else {'type': parameter.type}
        properties[parameter.name] = {'type': 'array', 'items': one} if parameter.is_list else one
    required = [parameter.name for parameter in tool.parameters if not parameter.optional]
    parameters = {'type': 'object', 'properties': properties, 'required': required, 'additionalProperties': False}
    return {'name': tool.name, 'description': tool.description, 'parameters': parameters}


def evaluation_case(conversation, number):
    """A case for evaluate.mjs: the tools as line (without ranks) and as schemas, the request, the steps that are expected."""
    steps = []
    for what, content in conversation.steps:
        steps.append({'call': {'name': content[0], 'arguments': content[1]}} if what == 'call' else {what: content})
    is_framed = any(tool.frame for tool in conversation.tools)
    line = '; '.join(map(tool_text, conversation.tools))
    return {
        'id': number, 'kind': conversation.kind, 'set': 'free wording' if is_framed else 'made up',
        'offered': len(conversation.tools), 'line': line, 'request': conversation.request,
        'tools': [schema(tool) for tool in conversation.tools], 'steps': steps,
    }
