import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnvironmentRequest } from '@holdfast/loader/internal';
import { createSession } from '@holdfast/session';
import { toRedactor } from '@holdfast/session/redact';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';
import { runHere } from '../testing/test-program.ts';
import { learnGranted, openEnvironment } from './environment-consent.ts';

const digest = 'd'.repeat(64);
const request: EnvironmentRequest = {
  tool: 'weather',
  file: 'weather.mjs',
  digest,
  variables: [
    { name: 'API_KEY', required: true },
    { name: 'REGION', required: false },
  ],
};
const values = { API_KEY: 'k3y-of-mine', REGION: 'eu', OTHER: 'x' };
const everyone = { stdin: false, stdout: false };

/** The grant to the tool by a consent that was opened with these files in the user folder. */
async function grant({
  files = {},
  names = [],
  environment = values,
  of = request,
}: {
  readonly files?: Readonly<Record<string, string>>;
  readonly names?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly of?: EnvironmentRequest;
}): Promise<Readonly<Record<string, unknown>>> {
  await using home = await createFolder(files);
  const { host } = createTestHost({ environment: { HOLDFAST_HOME: home.path, ...environment } });
  return (await openEnvironment({ names, taken: everyone }, host)).grant(of);
}

const configured = (environment: object): Readonly<Record<string, string>> => ({
  'config.json': JSON.stringify({ environment }),
});
const remembered = (names: readonly string[], of = digest, tool = 'weather'): Readonly<Record<string, string>> => ({
  'environment.json': JSON.stringify({ consents: [{ tool, digest: of, names }] }),
});

test.each([
  { what: 'nobody', given: {}, expected: {} },
  { what: '--env', given: { names: ['API_KEY'] }, expected: { API_KEY: 'k3y-of-mine' } },
  { what: '--env of what it did not declare', given: { names: ['OTHER'] }, expected: {} },
  { what: 'the configuration', given: { files: configured({ weather: ['REGION'] }) }, expected: { REGION: 'eu' } },
  { what: 'the configuration for another tool', given: { files: configured({ news: ['API_KEY'] }) }, expected: {} },
  {
    what: 'an earlier yes',
    given: { files: remembered(['API_KEY', 'REGION']) },
    expected: { API_KEY: 'k3y-of-mine', REGION: 'eu' },
  },
  {
    what: 'an earlier yes to another version',
    given: { files: remembered(['API_KEY'], 'e'.repeat(64)) },
    expected: {},
  },
  { what: 'an earlier yes to another tool', given: { files: remembered(['API_KEY'], digest, 'news') }, expected: {} },
  {
    what: 'an earlier yes to one that cannot be followed',
    given: { files: remembered(['API_KEY']), of: { ...request, digest: undefined } },
    expected: {},
  },
  {
    what: 'all of them together',
    given: { names: ['API_KEY'], files: configured({ weather: ['REGION'] }) },
    expected: { API_KEY: 'k3y-of-mine', REGION: 'eu' },
  },
])('consent by $what', async ({ given, expected }) => {
  expect(await grant(given)).toEqual(expected);
});

test.each([
  { file: 'config.json', text: '{' },
  { file: 'config.json', text: '[]' },
  { file: 'config.json', text: '{"environement":{}}' },
  { file: 'config.json', text: '{"environment":["API_KEY"]}' },
  { file: 'config.json', text: '{"environment":{"weather":"API_KEY"}}' },
  { file: 'config.json', text: '{"environment":{"weather":["API_KEY=1"]}}' },
  { file: 'config.json', text: '{"environment":{"weather":["NODE_OPTIONS"]}}' },
  { file: 'config.json', text: '{"environment":{"We ather":["API_KEY"]}}' },
  { file: 'environment.json', text: '' },
  { file: 'environment.json', text: '{"consents":[{"tool":"weather","digest":"*","names":["API_KEY"]}]}' },
])('$file with $text is refused by code and place', async ({ file, text }) => {
  const granted = grant({ files: { [file]: text } });
  await expect(granted).rejects.toMatchObject({
    code: 'user_config.invalid',
    message: expect.stringContaining(`${file}\``),
    data: { hint: expect.any(String) },
  });
});

const up = '\x1b[A';
async function ask(
  keys: string,
  {
    environment = values,
    names = [],
    of = request,
    taken = everyone,
  }: {
    readonly environment?: Readonly<Record<string, string>>;
    readonly names?: readonly string[];
    readonly of?: EnvironmentRequest;
    readonly taken?: typeof everyone | undefined;
  } = {},
) {
  const home = await createFolder();
  const { host, stdin, stdout } = createTestHost({
    environment: { NO_COLOR: '1', HOLDFAST_HOME: home.path, ...environment },
    terminals: ['stdin', 'stdout'],
  });
  const consent = await openEnvironment({ names, taken }, host);
  const granting = Promise.resolve(consent.grant(of)).catch((thrown: unknown) => thrown);
  stdin.write(keys);
  const granted = await granting;
  const kept = await readFile(join(home.path, 'environment.json'), 'utf8').catch(() => undefined);
  return { home, host, consent, granted, kept, shown: stdout() };
}

test('consent at the terminal is remembered for this version of the tool, and asked for once', async () => {
  const { home, host, granted, kept, shown } = await ask(`${up}\r`);
  await using _home = home;
  expect(granted).toEqual({ API_KEY: 'k3y-of-mine', REGION: 'eu' });
  expect(shown).toContain(
    '  weather (weather.mjs) requests environment variables:\n    API_KEY  set\n    REGION   optional, set\n',
  );
  expect(shown).not.toContain('k3y-of-mine');
  expect(JSON.parse(kept ?? '')).toEqual({ consents: [{ tool: 'weather', digest, names: ['API_KEY', 'REGION'] }] });
  expect((await stat(join(home.path, 'environment.json'))).mode & 0o777).toBe(0o600);
  const again = await openEnvironment({ names: [], taken: undefined }, host);
  expect(await again.grant(request)).toEqual(granted);
});

test.each([
  { what: 'Enter alone', keys: '\r' },
  { what: 'Escape', keys: '\x1b' },
])('$what means no, and nothing is remembered', async ({ keys }) => {
  const { home, granted, kept, shown } = await ask(keys);
  await using _home = home;
  expect(shown).toContain('requests environment variables');
  expect([granted, kept]).toEqual([{}, undefined]);
});

test('Ctrl-C ends the command', async () => {
  const { home, granted } = await ask('\x03');
  await using _home = home;
  expect(granted).toMatchObject({ code: 'terminal.interrupted' });
});

test('consent for a tool without a digest applies to the run', async () => {
  const { home, granted, kept } = await ask(`${up}\r`, { of: { ...request, digest: undefined } });
  await using _home = home;
  expect([granted, kept]).toEqual([{ API_KEY: 'k3y-of-mine', REGION: 'eu' }, undefined]);
});

test.each([
  { what: 'a required variable is not set', given: { environment: { REGION: 'eu' } } },
  { what: 'a required variable is empty', given: { environment: { API_KEY: '' } } },
  { what: 'every required variable is granted already', given: { names: ['API_KEY'] } },
  { what: 'the terminal is taken', given: { taken: { stdin: true, stdout: true } } },
])('no question is asked when $what', async ({ given }) => {
  const { home, shown, kept } = await ask('', given);
  await using _home = home;
  expect([shown, kept]).toEqual(['', undefined]);
});

test('granted values are secrets for the log, except common words', async () => {
  const { host } = createTestHost({ environment: { API_KEY: 'k3y-of-mine', REGION: 'eu', DEBUG: 'true' } });
  const variables = [...request.variables, { name: 'DEBUG', required: false }];
  const consent = await openEnvironment({ names: ['API_KEY', 'REGION', 'DEBUG'], taken: undefined }, host);
  await consent.grant({ ...request, variables });
  const learned: string[] = [];
  const redactor = toRedactor({ redact: (json) => json, learn: (secret) => void learned.push(secret) });
  learnGranted(createSession({ redactor }), consent);
  expect(learned).toEqual(['k3y-of-mine']);
});

// A digest of the value, which no redactor masks.
const weather = `import { createHash } from 'node:crypto';
export const METADATA = {
  name: 'weather', function: 'weather', description: 'Weather.', dangerous: false,
  environment: ['API_KEY', 'REGION?'], parameters: { type: 'object', properties: {} },
};
export const weather = () => createHash('sha256').update(process.env.API_KEY + process.env.REGION).digest('hex');
`;
const seen = (text: string): string => createHash('sha256').update(text).digest('hex');
const turns = [{ calls: [{ name: 'weather', arguments: {} }] }, { text: 'Done.' }];
const files = { 'tools/weather.mjs': weather, 'script.json': JSON.stringify({ turns }) };
const run = ['run', 'Do it.', '--model', 'script:script.json', '--tools', 'tools'];
const environment = { NO_COLOR: '1', ...values };

test('run, plan and try pass the variables of `--env`; without it the call names the missing one', async () => {
  const plan = { version: 1, nodes: [{ id: 'a', tool: 'weather', inputs: {} }], final_output_node: 'a' };
  await using folder = await createFolder({ ...files, 'plan.json': JSON.stringify(plan) });
  const holdfast = (...argv: readonly string[]) => runHere(argv, { directory: folder.path, environment });
  const granted = seen('k3y-of-mineundefined');

  expect((await holdfast(...run, '--env', 'API_KEY', '--json')).stdout).toContain(granted);
  const without = await holdfast(...run);
  expect(without.stdout).toContain('`weather` is missing the environment variable `API_KEY`.');
  expect(without.stdout).toContain('`weather` requires API_KEY, REGION (optional). Set them and add `--env API_KEY`.');
  const planned = ['plan', 'run', 'plan.json', '--tools', 'tools'];
  expect((await holdfast(...planned, '--env', 'API_KEY')).stdout).toContain(granted);
  expect((await holdfast(...planned)).stdout).toContain('add `--env API_KEY`.');
  const tried = ['try', 'tools/weather.mjs', '--input', '{}'];
  expect((await holdfast(...tried, '--env', 'API_KEY', '--env', 'REGION')).stdout).toContain(seen('k3y-of-mineeu'));
  expect((await holdfast(...tried)).stdout).toContain('Use `--env NAME` to pass a variable.');
});

test('a resumed run gets only variables named again: the log is in the workspace and grants nothing', async () => {
  const dangerous = weather.replace('dangerous: false', "dangerous: true, effects: 'none'");
  await using folder = await createFolder({ ...files, 'tools/weather.mjs': dangerous });
  const holdfast = (...argv: readonly string[]) => runHere(argv, { directory: folder.path, environment });
  expect(await holdfast(...run, '--env', 'API_KEY', '--suspend')).toMatchObject({ exitCode: 3 });
  const sessions = join(folder.path, '.holdfast', 'sessions');
  const [log = ''] = await readdir(sessions);
  expect(await readFile(join(sessions, log), 'utf8')).not.toContain('API_KEY');
  expect((await holdfast('resume', '--yes', '--json')).stdout).toContain('tool.environment.missing');
});

test('an undeclared name is a warning, and a value an error', async () => {
  await using folder = await createFolder(files);
  const holdfast = (...argv: readonly string[]) => runHere(argv, { directory: folder.path, environment });
  const mistyped = await holdfast(...run, '--env', 'APY_KEY');
  expect(mistyped.stderr).toContain('warning: no tool file declares the environment variable `APY_KEY` of `--env`');
  for (const [word, says] of [
    ['API_KEY=secret', 'Expected a name without a value'],
    ['NODE_OPTIONS', 'changes how a program starts'],
    ['', 'must be letters, digits'],
  ] as const) {
    const refused = await holdfast(...run, '--env', word);
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining(says)]);
  }
});

test('no file of a project can grant a variable', async () => {
  for (const [name, text] of [
    ['holdfast.config.ts', "export default { environment: { weather: ['API_KEY'] } };"],
    ['holdfast.policy.json', '{ "environment": { "weather": ["API_KEY"] } }'],
  ] as const) {
    await using folder = await createFolder({ ...files, [name]: text });
    const argv = [...run, ...(name === 'holdfast.config.ts' ? ['--config', name] : [])];
    const { exitCode, stderr } = await runHere(argv, { directory: folder.path, environment });
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/`environment`.*\(config\./s)]);
  }
});

test('`list` shows the variables of each tool', async () => {
  await using folder = await createFolder(files);
  const list = ['list', '--tools', 'tools'];
  const { stdout } = await runHere(list, { directory: folder.path });
  expect(stdout).toMatch(/^tool +owner +origin +effects +gate +environment +description\n/);
  expect(stdout).toMatch(/^weather +folder +tools\/weather\.mjs +none +API_KEY REGION\? +Weather\./m);
  const rows = JSON.parse((await runHere([...list, '--json'], { directory: folder.path })).stdout);
  expect(rows[0]).toMatchObject({ name: 'weather', environment: ['API_KEY', 'REGION?'] });
  expect(rows[1]).toMatchObject({ environment: [] });
});
