import { existsSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeCode } from '@holdfast/core/internal';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { commandFile } from '../test-commands.ts';
import { codesOf, compareLock, createProject, scanFolder, toolFile } from '../test-project.ts';
import { python, pythonFile, pythonPath } from '../test-python.ts';
import { findPython } from './find.ts';

// The interpreter itself: a wrapper script would take most of the time.
beforeEach(() => void vi.stubEnv('PATH', pythonPath));
afterEach(() => void vi.unstubAllEnvs());

/** The scan result of one Python file. */
async function read(source: string | Uint8Array): Promise<readonly string[]> {
  await using project = await createProject({ 'plugins/weather.py': source });
  const { diagnostics } = await scanFolder(project.plugins);
  return diagnostics.map(({ code, reason, line, column }) => `${line}:${column} ${describeCode({ code, reason })}`);
}

describe.skipIf(!python.available)('with Python', () => {
  test('a tool is defined by METADATA and the function of that name', async () => {
    const source = `#!/usr/bin/env python3
"""What the file is about."""
import antigravity_that_is_not_there

METADATA: dict[str, object] = {
    'name': 'weather', "function": 'run_weather', 'dangerous': False,
    'parameters': {
        'type': 'object',
        'properties': {'city': {'type': 'string', 'default': 'Ro' 'me'}, 'days': {'type': ['integer', 'null'], 'minimum': -1}},
        'required': (),
    },
    'timeoutMs': 5_000, 'version': '1.0.0',
}

def run_weather(city, *, days=None):
    """The weather
    of a city.

    Args: ...
    """
`;
    await using project = await createProject({ 'plugins/weather.py': source });
    const { files, diagnostics } = await scanFolder(project.plugins, { strict: true });
    expect(diagnostics).toEqual([]);
    expect(files).toMatchObject([
      {
        type: 'tool',
        file: 'weather.py',
        metadata: {
          form: 'python',
          name: 'weather',
          function: 'run_weather',
          passing: 'named',
          description: 'The weather of a city.',
          parameters: {
            properties: { city: { default: 'Rome' }, days: { type: ['integer', 'null'], minimum: -1 } },
            required: [],
          },
          effects: 'none',
          timeoutMs: 5000,
        },
      },
    ]);
  });

  test.each([
    ['a name', 'NAME = "x"\nMETADATA = {"name": NAME}', '2:21'],
    ['a call', 'METADATA = dict(name="x")', '1:12'],
    ['an f-string', 'METADATA = {\n  "name": f"x",\n}', '2:11'],
    ['an f-string behind other letters', 'METADATA = {"ü😀": f"x"}', '1:20'],
    ['a sum', 'METADATA = {"name": "a" + "b"}', '1:21'],
    ['a spread', 'METADATA = {**{"name": "x"}}', '1:15'],
    ['a spread in a list', 'METADATA = {"a": [*[1]]}', '1:19'],
    ['a set', 'METADATA = {"name"}', '1:12'],
    ['a comprehension', 'METADATA = {"a": [x for x in ()]}', '1:18'],
    ['bytes', 'METADATA = {"name": b"x"}', '1:21'],
    ['a complex number', 'METADATA = {"a": 1j}', '1:18'],
    ['an ellipsis', 'METADATA = {"a": ...}', '1:18'],
    ['a function', 'METADATA = {"a": lambda: 1}', '1:18'],
    ['a key that is not a text', 'METADATA = {1: 2}', '1:13'],
    ['a key twice', 'METADATA = {"name": 1,\n "name": 2}', '2:2'],
    ['the key __proto__', 'METADATA = {"__proto__": 1}', '1:13'],
    ['a number without an end', 'METADATA = {"a": 1e999}', '1:18'],
    ['a whole number without an end', `METADATA = {"a": ${'9'.repeat(400)}}`, '1:18'],
    ['a negation of what is none', 'METADATA = {"a": -True}', '1:18'],
    ['too many levels', `METADATA = {"a": ${'['.repeat(70)}${']'.repeat(70)}}`, '1:82'],
    ['too many values', `METADATA = {"a": [${'1,'.repeat(20_100)}]}`, expect.stringMatching(/^1:/)],
    ['a second value', 'METADATA = {}\nMETADATA = {}', '2:1'],
    ['a second value by addition', 'METADATA = {}\nMETADATA |= {}', '2:1'],
    ['a part of something else', 'METADATA, X = {}, 1', '1:1'],
    ['a value of a list', 'METADATA = []', '1:1'],
  ])('METADATA with %s is not a literal, and the file does not run', async (_, source, place) => {
    const [found, ...more] = await read(source);
    expect(more).toEqual([]);
    const [at = '', ...code] = found?.split(' ') ?? [];
    expect(code.join(' ')).toBe('tool.metadata.invalid: not_literal');
    expect(at).toEqual(place);
  });

  test.each([
    ['nothing', '', '1:1 tool.metadata.missing'],
    ['METADATA in a block', 'if True:\n  METADATA = {}', '1:1 tool.metadata.missing'],
    ['METADATA without a value', 'METADATA: dict', '1:1 tool.metadata.missing'],
    ['METADATA in a text', '"""METADATA = {}"""', '1:1 tool.metadata.missing'],
    ['a syntax error', 'x = 1\ndef (:', '2:5 tool.file.invalid: syntax'],
    ['a syntax error behind other letters', 'x = "ü😀" )', '1:11 tool.file.invalid: syntax'],
    ['Python 2', 'print "x"', expect.stringMatching(/^1:\d+ tool\.file\.invalid: syntax$/)],
    ['wrong indentation', 'if 1:\nx = 1', '2:1 tool.file.invalid: syntax'],
    ['another encoding by name', '# -*- coding: latin-1 -*-\nMETADATA = {}', '1:1 tool.file.invalid: encoding'],
    ['an encoding that hides code', '# coding: unicode_escape\nMETADATA = {}', '1:1 tool.file.invalid: encoding'],
    ['an unknown encoding', '# coding: nothing\nMETADATA = {}', '1:1 tool.file.invalid: encoding'],
  ])('a file with %s is refused with its position', async (_, source, problem) => {
    expect(await read(source)).toEqual([problem]);
  });

  test.each([
    ['a NUL', 'x = 1\0'],
    ['UTF-16', new Uint8Array([0xff, 0xfe, 0x78, 0])],
    ['Latin 1', new Uint8Array([0x23, 0xe4])],
  ])('a file with %s is refused before Python reads it', async (_, source) => {
    expect(await read(source)).toEqual(['1:1 tool.file.invalid: encoding']);
  });

  test('a byte order mark and a UTF-8 cookie are allowed', async () => {
    expect(await read(`\ufeff# -*- coding: utf-8 -*-\r\n${pythonFile('weather')}`)).toEqual([]);
  });

  test.each([
    ['parentheses', `x = ${'('.repeat(100_000)}`],
    ['signs', `x = ${'-'.repeat(100_000)}1`],
    ['lists', `x = ${'['.repeat(5_000)}${']'.repeat(5_000)}`],
    ['attributes', `x = a${'.a'.repeat(100_000)}`],
    ['sums', `x = ${'1+'.repeat(100_000)}1`],
    ['blocks', Array.from({ length: 99 }, (_, depth) => `${' '.repeat(depth)}if 1:`).join('\n')],
  ])("%s beyond Python's limits affects only its file", async (_, code) => {
    await using project = await createProject({
      'plugins/a.py': pythonFile('first'),
      'plugins/b.py': `${pythonFile('deep')}${code}\n`,
      'plugins/c.py': pythonFile('last'),
    });
    const { files, diagnostics } = await scanFolder(project.plugins);
    const tools = files.flatMap((one) => (one.type === 'tool' ? [one.metadata.name] : []));
    expect(tools.filter((name) => name !== 'deep')).toEqual(['first', 'last']);
    expect(diagnostics.map(({ file }) => file).filter((file) => file !== 'b.py')).toEqual([]);
  });

  test.each([
    ['missing', 'METADATA = {"name": "x"}', 'tool.function.missing'],
    ['not there', pythonFile('x', { code: 'def other(): pass\n', def: '' }), 'tool.function.not_exported'],
    ['in a class', pythonFile('x', { def: 'class A:\n  def work(): pass' }), 'tool.function.not_exported'],
    ['in a block', pythonFile('x', { def: 'if True:\n  def work(): pass' }), 'tool.function.not_exported'],
    ['a class', pythonFile('x', { def: 'class work: pass' }), 'tool.function.not_function'],
    ['imported', pythonFile('x', { def: 'from y import work' }), 'tool.function.not_function'],
    ['assigned', pythonFile('x', { def: 'work = lambda text: 1' }), 'tool.function.not_function'],
    ['assigned again', pythonFile('x', { def: 'def work(text=1): pass\nwork = 1' }), 'tool.function.not_function'],
    [
      'a generator',
      pythonFile('x', { def: 'def work(text=1):\n  if text:\n    yield 1' }),
      'tool.function.not_function',
    ],
  ])('a function that is %s is refused', async (_, source, code) => {
    expect((await read(source)).map((line) => line.split(' ')[1])).toContain(code);
  });

  test('decorated and asynchronous functions, and those that only look like generators, are accepted', async () => {
    for (const def of [
      'def work(text=1):\n  def inner(): yield 1\n  return list(inner()) + [(yield_ for yield_ in ())]',
      '@staticmethod\ndef work(text=1): pass',
      'async def work(text=1): pass',
      'work = 1\ndef work(text=1): pass',
    ]) {
      expect(await read(pythonFile('x', { def }))).toEqual([]);
    }
  });

  const both = { a: { type: 'integer' }, b: { type: 'integer', default: 1 } };
  const needsA = { required: ['a'] };
  test.each([
    ['def work(): pass', {}, {}, 'none', []],
    ['def work(*args): pass', {}, {}, 'none', []],
    ['def work(): pass', both, {}, 'none', ['warning']],
    ['def work(arguments): pass', both, {}, 'whole', []],
    ['def work(arguments, /): pass', both, {}, 'whole', []],
    ['def work(arguments=None): pass', both, {}, 'whole', []],
    ['def work(_): pass', {}, {}, 'whole', []],
    ['def work(a, b): pass', both, needsA, 'named', []],
    ['def work(b, a): pass', both, needsA, 'named', []],
    ['def work(*, a, b=1): pass', both, needsA, 'named', []],
    ['def work(a=1, b=2, c=3): pass', both, {}, 'named', []],
    ['def work(**more): pass', both, {}, 'named', []],
    ['def work(a, **more): pass', both, needsA, 'named', []],
    ['def work(a, b): pass', both, {}, 'named', ['warning']],
    ['def work(a): pass', { a: { type: 'integer' } }, needsA, 'named', []],
    ['def work(a): pass', both, needsA, undefined, ['error']],
    ['def work(a, c): pass', both, needsA, undefined, ['error', 'error']],
    ['def work(a, b, c): pass', both, needsA, undefined, ['error']],
    ['def work(a, /, b): pass', both, needsA, undefined, ['error']],
    ['def work(*, arguments): pass', both, {}, undefined, ['error', 'error']],
    ['def work(toString): pass', both, {}, 'whole', []],
  ])('%s with the properties %j and %j: %s', async (def, properties, more, passing, severities) => {
    const parameters = JSON.stringify({ type: 'object', properties, ...more });
    await using project = await createProject({ 'plugins/x.py': pythonFile('x', { def, parameters }) });
    const { files, diagnostics } = await scanFolder(project.plugins);
    const [file] = files;
    expect(diagnostics.map(({ code, reason, severity }) => [describeCode({ code, reason }), severity])).toEqual(
      severities.map((severity) => ['tool.metadata.invalid: function.parameters', severity]),
    );
    expect(file?.type === 'tool' ? file.metadata.passing : undefined).toBe(passing);
  });

  test('a parameter without a schema is vague, as in any language', async () => {
    const source =
      "METADATA = {'name': 'x', 'function': 'work', 'description': 'X.', 'dangerous': False}\ndef work(given): pass\n";
    expect(await read(source)).toEqual(['1:12 tool.schema.vague']);
  });

  test('tests, hidden files and files that belong to another are ignored', async () => {
    await using project = await createProject({
      'plugins/tool.py': `import helper\nfrom pack import part\n${pythonFile('tool')}`,
      'plugins/other.py': `from tool import work as other_work\nimport plain\n${pythonFile('other')}`,
      'plugins/helper.py': 'import deeper\n',
      'plugins/deeper.py': '',
      'plugins/plain.py': 'this is plain text',
      'plugins/alone.py': '',
      'plugins/count.py': pythonFile('count_of_its_own'),
      'plugins/count.tool.json': commandFile(['python3', './count.py']),
      ...Object.fromEntries(
        ['_x', '.x', 'test_x', 'x_test', 'conftest', 'setup', '__init__'].map((name) => [`plugins/${name}.py`, '']),
      ),
      'plugins/x.pyi': '',
      'plugins/pack/__init__.py': '',
      'plugins/pack/part.py': '',
    });
    const scan = await scanFolder(project.plugins);
    expect(scan.files.map(({ type, file }) => `${type} ${file}`)).toEqual([
      'refused alone.py',
      'tool count.tool.json',
      'tool other.py',
      'refused plain.py',
      'tool tool.py',
    ]);
    expect(codesOf(scan)).toEqual([
      'alone.py tool.metadata.missing',
      'count.tool.json tool.command.invalid: hides',
      'plain.py tool.file.invalid: syntax',
    ]);
    const deep = await scanFolder(project.plugins, { subfolders: true });
    expect(deep.files.map(({ file }) => file)).toEqual(scan.files.map(({ file }) => file));
  });

  test('twins across languages are reported like any others', async () => {
    await using project = await createProject({
      'plugins/a.py': pythonFile('same'),
      'plugins/b.mjs': toolFile('same'),
      'plugins/c.py': pythonFile('half_alike'),
      'plugins/d.tool.json': commandFile(['sh'], { name: 'half-alike' }),
    });
    const scan = await scanFolder(project.plugins);
    expect(codesOf(scan)).toEqual([
      'a.py tool.invalid: name.duplicate',
      'b.mjs tool.invalid: name.duplicate',
      'c.py tool.metadata.invalid: name.twin',
      'd.tool.json tool.metadata.invalid: name.twin',
    ]);
    expect(scan.diagnostics.find(({ file }) => file === 'a.py')).toMatchObject({ line: 1, column: 13 });
  });

  test('no file runs on scan, compare or lock', async () => {
    const canary = (place: string): string => `open(${JSON.stringify(place)}, 'w')\n`;
    await using project = await createProject();
    const ran = join(project.root, 'ran');
    await project.write('plugins/helper.py', canary(ran));
    await project.write(
      'plugins/a.py',
      `import helper\n${canary(ran)}${pythonFile('a', { def: `def work(text=${canary(ran).trim()}): pass` })}`,
    );
    await project.write('plugins/sitecustomize.py', canary(ran));
    await project.write('plugins/json.py', `${canary(ran)}${pythonFile('json')}`);
    vi.stubEnv('PYTHONPATH', project.plugins);
    vi.stubEnv('PYTHONSTARTUP', join(project.plugins, 'json.py'));
    const directory = process.cwd();
    process.chdir(project.plugins);
    try {
      await scanFolder(project.plugins);
      await (await compareLock(project.plugins, { lock: project.lock })).accept();
    } finally {
      process.chdir(directory);
    }
    expect(existsSync(project.lock)).toBe(true);
    expect(existsSync(ran)).toBe(false);
    expect(existsSync(join(project.plugins, '__pycache__'))).toBe(false);
  });

  test('a file that crashes the Python process affects only itself', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    await using project = await createProject(
      Object.fromEntries(
        names.map((name) => [`plugins/${name}.py`, pythonFile(name, { code: 'bd'.includes(name) ? '# CRASH\n' : '' })]),
      ),
    );
    const crash = 'def outline(source):\\n    if "CRASH" in source: import os; os._exit(139)';
    const real = python.available ? python.program : '';
    await project.write(
      'bin/python3',
      `#!/bin/sh
echo started >>"${project.root}/starts"
for last; do :; done
exec ${real} -I -S -c "$(printf '%s' "$last" | sed 's/^def outline(source):/${crash}/')"
`,
    );
    await chmod(join(project.root, 'bin/python3'), 0o755);
    vi.stubEnv('PATH', `${project.root}/bin:${process.env['PATH']}`);
    const scan = await scanFolder(project.plugins);
    expect(codesOf(scan)).toEqual(['b.py tool.file.invalid: too_complex', 'd.py tool.file.invalid: too_complex']);
    expect(scan.files.filter(({ type }) => type === 'tool').map(({ file }) => file)).toEqual(['a.py', 'c.py', 'e.py']);
    expect(await readFile(join(project.root, 'starts'), 'utf8')).toBe('started\n'.repeat(3));
  });

  test('one process reads a hundred files', async () => {
    await using project = await createProject(
      Object.fromEntries(
        Array.from({ length: 100 }, (_, index) => [`plugins/tool_${index}.py`, pythonFile(`tool_${index}x`)]),
      ),
    );
    await project.write(
      'bin/python3',
      `#!/bin/sh\necho started >>"${project.root}/starts"\nexec ${python.available ? python.program : ''} "$@"\n`,
    );
    await chmod(join(project.root, 'bin/python3'), 0o755);
    vi.stubEnv('PATH', `${project.root}/bin`);
    const { files } = await scanFolder(project.plugins);
    expect(files.filter(({ type }) => type === 'tool')).toHaveLength(100);
    expect(await readFile(join(project.root, 'starts'), 'utf8')).toBe('started\n');
  });
});

test.each([
  ['absent', undefined, 'there is no `python3` on the PATH'],
  ['something else', '#!/bin/sh\necho hello\n', '`python3` does not respond like Python'],
  ['silent', '#!/bin/sh\nexit 0\n', '`python3` exits on start'],
  ['too old', '#!/bin/sh\necho \'{"version": [3, 7, 9]}\'\n', '`python3` is version 3.7, but 3.8 or later is required'],
  [
    'far too old',
    '#!/bin/sh\necho \'{"version": [2, 9, 9]}\'\n',
    '`python3` is version 2.9, but 3.8 or later is required',
  ],
  ['not to be started', 'no program', '`python3` '],
])('with %s Python, its tools are refused and all others load', async (_, script, reason) => {
  await using project = await createProject({
    'plugins/a.mjs': toolFile('a'),
    'plugins/b.py': pythonFile('b'),
    'plugins/c.tool.json': commandFile(['sh'], { name: 'c' }),
    'plugins/helper.py': 'x = 1\n',
    'plugins/z.py': pythonFile('z'),
  });
  if (script !== undefined) {
    await project.write('bin/python3', script);
    await chmod(join(project.root, 'bin/python3'), 0o755);
  }
  vi.stubEnv('PATH', join(project.root, 'bin'));
  const { files, diagnostics } = await scanFolder(project.plugins);
  expect(codesOf({ diagnostics })).toEqual([
    'b.py tool.process.not_started: python',
    'z.py tool.process.not_started: python',
  ]);
  expect(diagnostics[0]?.message).toContain(reason);
  expect(files.map(({ type, file }) => `${type} ${file}`)).toEqual([
    'tool a.mjs',
    'refused b.py',
    'tool c.tool.json',
    'refused z.py',
  ]);
  const state = await findPython();
  expect(state.available).toBe(false);
});
