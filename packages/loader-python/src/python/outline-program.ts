/**
 * Reads Python without running it: one JSON line `{ "source" }` per file on standard input, one JSON line `PythonOutline` on standard
 * output, after a first line with the version of Python. For 3.8 and later; any Python 3 can print the first line.
 */
export const pythonOutlineProgram: string = String.raw`
import ast, io, json, math, re, sys, tokenize

MAX_DEPTH = 64
MAX_VALUES = 20000
WRITE_OUT = 'Write the value as a literal: metadata is read without running the file.'
KINDS = {
    'Call': 'a call', 'Name': 'a name', 'JoinedStr': 'an f-string', 'BinOp': 'a computed value', 'BoolOp': 'a computed value',
    'IfExp': 'a computed value', 'Compare': 'a computed value', 'Attribute': 'a member of another value',
    'Subscript': 'a member of another value', 'Lambda': 'a function', 'Set': 'a set', 'Starred': 'a spread',
    'ListComp': 'a comprehension', 'DictComp': 'a comprehension', 'SetComp': 'a comprehension', 'GeneratorExp': 'a comprehension',
    'Await': 'an "await"', 'TemplateStr': 'a template string',
}

class Refusal(Exception):
    def __init__(self, node, found, hint=WRITE_OUT):
        self.answer = {'found': found, 'hint': hint, 'line': node.lineno, 'column': node.col_offset}

def check(node, path, places, place):
    if len(path) > MAX_DEPTH or len(places) > MAX_VALUES:
        raise Refusal(node, 'a literal that is too large', 'Keep it under %d values and %d levels.' % (MAX_VALUES, MAX_DEPTH))
    places.append([path, place.lineno, place.col_offset])
    if isinstance(node, ast.Dict):
        names = set()
        for key, value in zip(node.keys, node.values):
            if key is None:
                raise Refusal(value, 'a spread')
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                raise Refusal(key, 'a key that is not a string', 'Write the key as a string.')
            if key.value == '__proto__':
                raise Refusal(key, 'the key "__proto__"', 'Choose another name.')
            if key.value in names:
                raise Refusal(key, 'the duplicate key "%s"' % key.value, 'Keep one of the two.')
            names.add(key.value)
            # The position of a member is that of its key.
            check(value, path + [key.value], places, key)
    elif isinstance(node, (ast.List, ast.Tuple)):
        for index, item in enumerate(node.elts):
            check(item, path + [str(index)], places, item)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)) and is_number(node.operand):
        check_number(node, node.operand.value)
    elif is_number(node):
        check_number(node, node.value)
    elif not isinstance(node, ast.Constant) or not (node.value is None or isinstance(node.value, (str, bool))):
        kind = 'a value that JSON does not support' if isinstance(node, ast.Constant) else KINDS.get(type(node).__name__, 'an expression')
        raise Refusal(node, kind)

def is_number(node):
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)

def check_number(node, number):
    try:
        finite = math.isfinite(float(number))
    except OverflowError:
        finite = False
    if not finite:
        raise Refusal(node, 'an infinite number', 'Write a number that JSON can represent.')

def read_metadata(body):
    found = []
    for statement in body:
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AugAssign) or isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        else:
            continue
        for target in targets:
            for node in ast.walk(target):
                if isinstance(node, ast.Name) and node.id == 'METADATA' and isinstance(node.ctx, ast.Store):
                    found.append((statement, node is target))
    if not found:
        return None
    if len(found) > 1:
        raise Refusal(found[1][0], 'a second value', 'Assign it once.')
    statement, is_whole = found[0]
    if not is_whole:
        raise Refusal(statement, 'a destructured value')
    places = []
    check(statement.value, [], places, statement.value)
    value = ast.literal_eval(statement.value)
    line, column = statement.lineno, statement.col_offset
    return {'value': value, 'line': line, 'column': column, 'places': places}

def is_generator(function):
    waiting = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))
    return False

def read_function(node):
    arguments = node.args
    positional = arguments.posonlyargs + arguments.args
    first_default = len(positional) - len(arguments.defaults)
    parameters = [
        {'name': argument.arg, 'kind': 'position' if index < len(arguments.posonlyargs) else 'either', 'hasDefault': index >= first_default}
        for index, argument in enumerate(positional)
    ] + [
        {'name': argument.arg, 'kind': 'name', 'hasDefault': default is not None}
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults)
    ]
    return {
        'line': node.lineno, 'column': node.col_offset, 'generator': is_generator(node), 'parameters': parameters,
        'takesMore': arguments.kwarg is not None, 'takesRest': arguments.vararg is not None, 'documentation': ast.get_docstring(node),
    }

def read_names(body):
    functions, others = {}, {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions[node.name] = read_function(node)
            others.pop(node.name, None)
            continue
        names = []
        if isinstance(node, ast.ClassDef):
            names = [(node.name, 'a class')]
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [((alias.asname or alias.name).split('.')[0], 'imported') for alias in node.names]
        elif isinstance(node, ast.Assign):
            names = [(target.id, 'assigned') for target in node.targets if isinstance(target, ast.Name)]
        for name, what in names:
            others[name] = {'what': what, 'line': node.lineno, 'column': node.col_offset}
            functions.pop(name, None)
    return functions, others

def read_imports(tree):
    imports, own_place = [], None
    for node in ast.walk(tree):
        place = {'line': getattr(node, 'lineno', 1), 'column': getattr(node, 'col_offset', 0)}
        if isinstance(node, ast.Import):
            for alias in node.names:
                imports.append({'level': 0, 'module': alias.name, 'names': [], **place})
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names if alias.name != '*']
            imports.append({'level': node.level, 'module': node.module or '', 'names': names, **place})
        elif isinstance(node, ast.Call) and is_import_call(node.func) and node.args:
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str) and not name.value.startswith('.'):
                imports.append({'level': 0, 'module': name.value, 'names': [], **place})
        elif isinstance(node, ast.Name) and node.id == '__file__' and own_place is None:
            own_place = place
    return imports, own_place

def is_import_call(function):
    if isinstance(function, ast.Name):
        return function.id in ('__import__', 'import_module')
    return isinstance(function, ast.Attribute) and function.attr == 'import_module'

def read_encoding(source):
    try:
        return tokenize.detect_encoding(io.BytesIO(source.encode('utf-8')).readline)[0]
    except SyntaxError:
        return 'an unknown one'

def outline(source):
    encoding = read_encoding(source)
    if encoding not in ('utf-8', 'utf-8-sig'):
        return {'type': 'encoding', 'encoding': encoding}
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        line = error.lineno or 1
        lines = re.split('\r\n|\r|\n', source)
        text = lines[line - 1] if line <= len(lines) else ''
        column = len(text[:max(0, (error.offset or 1) - 1)].encode('utf-8'))
        return {'type': 'syntax', 'message': error.msg, 'line': line, 'column': column}
    try:
        metadata, refusal = read_metadata(tree.body), None
    except Refusal as refused:
        metadata, refusal = None, refused.answer
    functions, others = read_names(tree.body)
    imports, own_place = read_imports(tree)
    return {
        'type': 'outlined', 'metadata': metadata, 'refusal': refusal, 'functions': functions, 'others': others,
        'imports': imports, 'ownPlace': own_place,
    }

def answer(line):
    try:
        text = json.dumps(outline(json.loads(line)['source']), allow_nan=False)
    except (RecursionError, MemoryError, ValueError, OverflowError):
        text = '{"type": "complex"}'
    sys.stdout.write(text + '\n')
    sys.stdout.flush()

def main():
    sys.stdout.write(json.dumps({'version': list(sys.version_info[:3])}) + '\n')
    sys.stdout.flush()
    if sys.version_info < (3, 8):
        return
    for line in sys.stdin:
        answer(line)

main()
`;
