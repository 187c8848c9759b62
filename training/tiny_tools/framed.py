"""Conversations in free wording, made of frames."""
import re

from tiny_tools import frames
from tiny_tools.chooser import Chooser
from tiny_tools.conversation import NO_TOOL, Conversation, Parameter, Tool
from tiny_tools.invented import Invented
from tiny_tools.small_talk import SMALL_TALK
from tiny_tools.typing_habits import vary
from tiny_tools.values import Values, json_type

KINDS = {'call': 82, 'none': 13, 'pair': 5}  # kind of conversation -> how often
SLOT = re.compile(r'\{(\w+)\}')
LINKS = [' and then ', ', then ', ' and ', '; after that ', '. Then ', '. Also, ', ' and after that ']


class Framed(Chooser):
    """`held_out`: only frames that training never uses, and made-up tools that it never draws."""

    def __init__(self, random_source, held_out=False):
        super().__init__(random_source)
        self.values, self.invented = Values(random_source), Invented(random_source, held_out)
        self.frames = frames.HELD_OUT if held_out else frames.TRAINING

    # ---- tools
    def tool(self, frame, wanted=()):
        """A tool that does what the frame says. `wanted`: slots that it has to have."""
        parameters = []
        for slot, description in frame['params'].items():
            optional = description.get('optional', False)
            if optional and slot not in wanted and self.chance(.5):
                continue
            free = [name for name in description['names'] if name not in [parameter.name for parameter in parameters]]
            if free:
                parameters.append(self.parameter(slot, description, self.pick(free)))
        if len(parameters) > 1 and self.chance(.2):
            self.random.shuffle(parameters)
        name, description = self.pick(frame['names']), self.pick(frame['descriptions'])
        # Once in a while only the name or only the description says what the tool does.
        x = self.random.random()
        if x < .05:
            description = re.sub(r'[._-]', ' ', re.sub(r'([a-z])([A-Z])', r'\1 \2', name)).lower()
        elif x < .10:
            name = self.pick(['tool', 'fn', 'do', 'run', 'x', 'op']) + '_' + self.values.made_up()
        return Tool(name, description, parameters, frame=frame)

    def parameter(self, slot, description, name):
        kind = description['kind']
        optional = description.get('optional', False) and self.chance(.8)
        options = self.pick(description['options']) if kind == 'enum' else None
        phrases = {True: description['true'], False: description['false']} if kind == 'bool' else None
        type_name = 'string' if options else json_type(kind)
        return Parameter(name, kind, type_name, options, optional, description.get('list', False), slot, phrases)

    def other_tool(self, frame, taken):
        """Another offered tool: often of the same domain, sometimes one that is made up."""
        if self.chance(.12):
            return self.invented.tool([])
        for _ in range(50):
            pool = self.frames.by_domain.get(frame['domain']) if self.chance(.5) else None
            other = self.pick(pool or self.frames.all)
            if other is frame or any(tool.frame is other for tool in taken):
                continue
            tool = self.tool(other)
            if all(tool.name != one.name for one in taken):
                return tool
        return self.invented.tool([])

    # ---- requests
    def request(self, frame):
        """(the tool, its arguments, the request)"""
        text = self.pick(frame['requests'])
        slots = SLOT.findall(text)
        tool = self.tool(frame, slots)
        said, values = {}, {}
        for slot in slots:
            parameter = tool.parameter_of_slot(slot)
            if parameter is None:
                return self.request(frame)
            values[slot], said[slot] = self.fill(parameter)
        filled = SLOT.sub(lambda match: said[match.group(1)], text)
        # A value at the beginning stays as it is: it has to be copied.
        if text[0] != '{' and filled[0].isalpha() and self.chance(.3) and filled[:2] not in ('I ', "I'"):
            filled = filled[0].swapcase() + filled[1:]
        arguments = {one.name: values[one.slot] for one in tool.parameters if one.slot in values}
        return tool, arguments, filled

    def fill(self, parameter):
        """(the value, its words)"""
        if parameter.options:
            value = self.pick(parameter.options)
            return value, value
        if parameter.kind == 'bool':
            value = self.chance(.5)
            return value, self.pick(parameter.phrases[value])
        if not parameter.is_list:
            value = self.values.value(parameter.kind)
            return value, str(value)
        items = []
        while len(items) < self.pick([2, 2, 3]):
            item = self.values.value(parameter.kind)
            if item not in items:
                items.append(item)
        words = [str(item) for item in items]
        return items, ', '.join(words) if self.chance(.2) else ', '.join(words[:-1]) + ' and ' + words[-1]

    # ---- whole conversations
    def conversation(self, max_tools=5, kind=None):
        kind = kind or self.random.choices(list(KINDS), list(KINDS.values()))[0]
        frame = self.pick(self.frames.all)
        if kind == 'pair':
            return self.pair(frame, max_tools)
        tool, arguments, text = self.request(frame)
        taken = [tool]
        count = self.between(1, max_tools) + (kind == 'none')
        while len(taken) < count:
            taken.append(self.other_tool(frame, taken))
        if kind == 'none':
            taken = taken[1:]
            if self.chance(.2):
                text = self.pick(SMALL_TALK)
        self.random.shuffle(taken)
        steps = [('say', NO_TOOL)] if kind == 'none' else [('call', (tool.name, arguments)), *self.ending(tool)]
        return Conversation(kind, taken, vary(self, text), steps)

    def pair(self, frame, max_tools):
        """Two calls in one request."""
        second_frame = self.pick(self.frames.by_domain[frame['domain']] if self.chance(.5) else self.frames.all)
        if second_frame is frame:
            return self.conversation(max_tools, 'call')
        first, first_arguments, first_text = self.request(frame)
        second, second_arguments, second_text = self.request(second_frame)
        if first.name == second.name:
            return self.conversation(max_tools, 'call')
        taken = [first, second]
        while len(taken) < self.between(2, max_tools):
            taken.append(self.other_tool(frame, taken))
        self.random.shuffle(taken)
        text = first_text.rstrip('.!') + self.pick(LINKS) + second_text
        result = {'ok': True} if self.chance(.5) else self.invented.outcome(result_noun(first))[0]
        if 'error' in result:
            result = {'ok': True}
        text = vary(self, text)
        steps = [
            ('call', (first.name, first_arguments)), ('result', result),
            ('call', (second.name, second_arguments)), *self.ending(second)]
        return Conversation('pair', taken, text, steps)

    def ending(self, tool):
        """The result of the last call and what is said then."""
        result, answer = self.invented.outcome(result_noun(tool))
        return [('result', result), ('say', answer)]

    def drill(self, max_tools=5):
        """Only the choice and the call, without what comes of it: short, so many fit into a minute."""
        whole = self.conversation(max_tools, self.random.choices(['call', 'none'], [88, 12])[0])
        return Conversation(whole.kind, whole.tools, whole.request, whole.steps[:1])


def result_noun(tool):
    """The last word of the tool's name."""
    return re.split(r'[^a-z]+', tool.name.lower())[-1] or 'result'
