import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findLogFolder } from '../workspace/session-logs.ts';
import { createFolder, type TestFolder } from './test-folder.ts';
import { type Ended, type RunHereOptions, runHere } from './test-program.ts';

// Bundled: trust covers every file that a plugin imports, and reads all of them again for every run.
const core = toBundle(import.meta.resolve('@holdfast/core'));
const schemas = toBundle(import.meta.resolve('@holdfast/schema/json'));
const prompt = toBundle(import.meta.resolve('@holdfast/prompt'));

/** Where `tests/setup/programs.ts` has bundled a source. */
function toBundle(source: string): string {
  const [, path] = /(packages\/.*)\.ts$/.exec(source) ?? [];
  return new URL(`${path}.mjs`, pathToFileURL(process.env['HOLDFAST_SOURCES'] ?? '')).href;
}

/** A plugin `git`: two state tools, a policy for them, a slice, a section, a model, a resource, commands and a pack. */
export const git: string = `import * as core from '${core}';
import { jsonSchema } from '${schemas}';
import { markdownSection } from '${prompt}';
const { allow, append, ask, definePack, definePlugin, definePolicy, defineResource, defineSlice, defineTool, deny } = core;
const { toolOk } = core;
const branch = jsonSchema({ type: 'object', properties: { branch: { type: 'string' } }, required: ['branch'] });
const pushed = defineSlice({ id: 'git/pushed', kind: 'list', reducers: { pushed: (_, branch) => append(branch) } });
const client = defineResource({ name: 'git-client', lifetime: 'session', create: () => ({ url: 'https://git.example' }) });
const push = defineTool({
  name: 'push', description: 'Sends commits to the server.', effects: 'state', inputSchema: branch,
  async execute({ branch }, context) {
    context.session.dispatch({ type: 'pushed', payload: branch });
    const { url } = await context.use(client);
    return toolOk({ branch, url, pushed: [...context.session.read(pushed)] });
  },
});
const status = defineTool({ name: 'status', description: 'Says what was changed.', effects: 'none', execute: () => toolOk('clean') });
const blame = defineTool({ name: 'blame', description: 'Says who wrote a line.', effects: 'none', execute: () => toolOk('anna') });
const notToMain = definePolicy({
  name: 'not-to-main', check: ({ input }) => (input.branch === 'main' ? deny('Never to main.') : allow),
});
const askPush = (reason) => definePolicy({
  name: 'ask-push', check: ({ tool }) => (/(?:^|_)push$/.test(tool.name) ? ask(reason) : allow),
});
export default definePlugin({
  name: 'git', version: '1.2.0', description: 'Version control, for $5.', holdfast: '*',
  configSchema: jsonSchema({ type: 'object', properties: { token: { type: 'string' } } }),
  setup: () => ({ tools: [push, status] }),
  sections: [markdownSection({ title: 'History', template: 'Who wrote what.', tools: [blame] })],
  policies: [notToMain],
  slices: [pushed],
  resources: [client],
  packs: [definePack({
    name: 'git-safety', version: '1.2.0', description: 'Asks before a push.',
    configSchema: jsonSchema({ type: 'object', properties: { reason: { type: 'string' } } }),
    presets: {
      recommended: { description: 'Asks.', config: { reason: 'It is sent.' } },
      strict: { description: 'Asks, too.', config: { reason: 'It is sent for good.' } },
    },
    policies: ({ reason }) => [askPush(reason)],
  })],
  models: [{ name: 'echo', description: 'Says what it has to say.', create: () => ({
    id: 'echo',
    async *stream({ messages }) {
      yield { type: 'text-delta', text: messages.findLast(({ role }) => role === 'user').text };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
    },
  }) }],
  commands: [
    { name: 'git-log', description: 'Prints words.', run: (words, { print, printError, directory }) => {
      print(words.join('|') + '\\n');
      printError(directory + '\\n');
      return words.length;
    } },
    { name: 'git-fail', description: 'Fails.', run: () => { throw new Error('No server.'); } },
    { name: 'git-odd', description: 'Answers no code.', run: () => 300 },
    { name: 'git-wait', description: 'Waits until it is stopped.', run: (_, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(0))) },
  ],
});
`;

/** A module that exports `definePlugin(definition)`, where `definition` may use everything of the core. */
export function toPlugin(definition: string): string {
  return `import * as core from '${core}';\nexport default core.definePlugin(${definition});\n`;
}

/** A module that exports a pack of one policy `guard` with the check `check`. */
export function toPack(name: string, check: string, { version = '1.0.0' }: { readonly version?: string } = {}): string {
  return `import * as core from '${core}';
import { jsonSchema } from '${schemas}';
const preset = { description: 'As it is.', config: {} };
export default core.definePack({
  name: '${name}', version: '${version}', description: 'Guards.',
  configSchema: jsonSchema({ type: 'object', properties: {} }), presets: { recommended: preset, strict: preset },
  policies: () => [core.definePolicy({ name: 'guard', check: ${check} })],
});
`;
}

/** A configuration module that exports `config`. */
export function toConfig(config: object): string {
  return `export default ${JSON.stringify(config)};\n`;
}

/** A model script: one message for each list of calls, then an answer. */
export function toScript(...turns: readonly (readonly (readonly [name: string, input?: object])[])[]): string {
  const messages = turns.map((calls) => ({ calls: calls.map(([name, input = {}]) => ({ name, arguments: input })) }));
  return JSON.stringify({ turns: [...messages, { text: 'Done.' }] });
}

/** A folder with the plugin `git` and a configuration that names it. */
export function createProject(
  config: object = { plugins: ['./git.mjs'] },
  files: Readonly<Record<string, string>> = {},
): Promise<TestFolder> {
  return createFolder({ 'git.mjs': git, 'holdfast.config.mjs': toConfig(config), ...files });
}

export function type(folder: TestFolder, argv: readonly string[], options: RunHereOptions = {}): Promise<Ended> {
  return runHere(argv, { directory: folder.path, ...options });
}

/** Runs the script of the folder. */
export function runScript(folder: TestFolder, ...argv: readonly string[]): Promise<Ended> {
  return type(folder, ['run', 'Do it.', '--model', 'script:script.json', ...argv]);
}

/** The ids of all sessions. */
export async function listSessions({ path }: TestFolder): Promise<readonly string[]> {
  const folder = findLogFolder(path);
  const names = await readdir(join(folder, '..', '..'));
  return names.includes('.holdfast') ? (await readdir(folder)).filter((name) => name.endsWith('.jsonl')) : [];
}
