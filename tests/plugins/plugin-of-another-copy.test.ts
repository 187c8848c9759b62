import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { executeToolCall } from '@holdfast/executor';
import { loadPlugin } from '@holdfast/loader/plugins';
import { defineConfig } from '@holdfast/registry';
import { mergeConfig } from '@holdfast/registry/config';
import { openRegistry } from '@holdfast/registry/node';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';

/** A package manager may install two copies of `@holdfast/core`: whatever a plugin makes by its own is what it is. */

const code = `
import {
  append, ask, allow, definePack, definePlugin, definePolicy, defineResource, defineSlice, defineTool, deny, HoldfastError,
  toolError, toolOk, upsert,
} from './copy/index.ts';
import { jsonSchema } from '${import.meta.resolve('@holdfast/schema/json')}';

const notes = defineSlice({ id: 'notes/all', kind: 'list', reducers: { 'note-added': (_state, payload) => append(payload) } });
const clock = defineResource({ name: 'clock', lifetime: 'call', create: () => ({ now: () => 7 }) });
const text = jsonSchema({ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] });
const tools = [
  defineTool({
    name: 'add', description: 'Adds a note.', effects: 'state', inputSchema: text,
    async execute({ text: note }, context) {
      const { now } = await context.use(clock);
      context.session.dispatch({ type: 'note-added', payload: note });
      return toolOk({ count: context.session.read(notes).size, at: now() }, 'Added.');
    },
  }),
  defineTool({ name: 'fail', description: 'Fails.', effects: 'none', execute: () => toolError('No luck.', { code: 'notes.luck' }) }),
  defineTool({ name: 'throw', description: 'Throws.', effects: 'none', execute: () => { throw new HoldfastError('notes.thrown', 'No.'); } }),
];
const policy = definePolicy({
  name: 'once', stateKind: 'keyed', tools: ['add'],
  check: ({ input }, { state }) => input.text === '' ? ask('Empty?') : state.has(input.text) ? deny('Known.') : allow,
  onResult: ({ input }) => upsert(input.text, 1),
});
const pack = definePack({
  name: 'no-throw', version: '1.0.0', description: 'Nothing is thrown.', configSchema: jsonSchema({ type: 'object' }),
  presets: { recommended: { description: 'x', config: {} }, strict: { description: 'x', config: {} } },
  policies: () => [definePolicy({ name: 'no-throw', check: ({ tool }) => tool.name === 'throw' ? deny('No throwing.') : allow })],
});
export default definePlugin({
  name: 'notes', version: '1.0.0', description: 'Notes.', holdfast: '*', slices: [notes], resources: [clock], packs: [pack], policies: [policy],
  setup: () => ({ tools }),
});
`;

test('a plugin, with all that it brings along, may come from another copy of `@holdfast/core`', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-copy-'));
  try {
    await cp(fileURLToPath(new URL('../../packages/core/src/', import.meta.url)), join(directory, 'copy'), {
      recursive: true,
    });
    await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
    await writeFile(join(directory, 'notes.ts'), code);
    for (const packs of [[], ['notes/no-throw']]) {
      const config = defineConfig({ plugins: [{ plugin: './notes.ts', prefix: 'my' }], packs });
      const { registry, diagnostics } = await openRegistry(mergeConfig([{ layer: 'host', config }]), {
        directory,
        preparePlugin: async (plugin, given) => (await loadPlugin(plugin, { source: given.source })).plugin,
      });
      expect(diagnostics).toEqual([]);
      expect(registry.problems).toEqual([]);
      const { tools, policies, slices } = registry;
      const session = createSession({ slices });
      const call = (name: string, input: unknown = {}) =>
        executeToolCall({ name, arguments: input }, { tools, policies, session, unattended: true });
      expect(await call('my_add', { text: 'a' })).toMatchObject({
        kind: 'ok',
        value: { count: 1, at: 7 },
        message: 'Added.',
      });
      expect(await call('my_add', { text: 'a' })).toMatchObject({
        kind: 'denied',
        message: expect.stringContaining('Known.'),
      });
      expect(await call('my_add', { text: '' })).toMatchObject({ kind: 'denied', code: 'approval.unattended' });
      expect(await call('my_fail')).toMatchObject({ kind: 'failed', code: 'notes.luck', message: 'No luck.' });
      const thrown = packs.length === 0 ? { kind: 'failed', code: 'notes.thrown' } : { kind: 'denied' };
      expect(await call('my_throw')).toMatchObject(thrown);
      const [slice] = slices;
      expect(slice === undefined ? undefined : [...(session.read(slice) as Iterable<unknown>)]).toEqual(['a']);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
