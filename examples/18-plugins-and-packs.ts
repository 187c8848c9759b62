// Two plugins with a push tool, a pack that guards both, and a registry that records the owner and source of each name.
import assert from 'node:assert/strict';
import { definePack, definePlugin, defineTool, isHoldfastError, type Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { denyTools, sequentialDependency } from '@holdfast/policy';
import { createRegistry, type Registry } from '@holdfast/registry';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';

function say(name: string, text: string): Tool {
  return defineTool({ name, description: `Says ${text}.`, effects: 'state', execute: () => text });
}

const git = definePlugin({
  name: 'git',
  version: '1.2.0',
  description: 'Works with git.',
  holdfast: '>=0.0.0',
  tools: [say('push', 'git push'), say('test', 'git test')],
  // Applies to the plugin's own tools, even if they are renamed.
  policies: [sequentialDependency({ push: ['test'] })],
});
const hg = definePlugin({
  name: 'hg',
  version: '2.0.0',
  description: 'Works with Mercurial.',
  holdfast: '>=0.0.0',
  configSchema: v.object({ remote: v.string() }),
  setup: ({ remote }) => ({ tools: [say('push', `hg push ${remote}`)] }),
});
const freeze = definePack({
  name: 'freeze',
  version: '1.0.0',
  description: 'Nothing is pushed to where it must not go.',
  configSchema: v.object({ frozen: v.array(v.string()) }),
  presets: {
    recommended: { description: 'Nothing is frozen.', config: { frozen: [] } },
    strict: { description: 'Nothing goes out by Mercurial.', config: { frozen: ['push'] } },
  },
  policies: ({ frozen }) => (frozen.length === 0 ? [] : [denyTools(frozen)]),
});

// A name with two owners is refused; the error names both.
const config = { remote: 'https://hg.example.com' };
assert.throws(
  () => createRegistry().use(git).use(hg, { config }),
  (error) =>
    isHoldfastError(error) && error.code === 'registry.invalid' && /`git` 1\.2\.0.*`hg` 2\.0\.0/s.test(error.message),
);

const plugins = createRegistry()
  .use(git, { prefix: 'git', source: { package: '@acme/git' } })
  .use(hg, { config });
const session = createSession();
async function call({ tools, policies }: Registry, name: string): Promise<string> {
  const outcome = await executeToolCall({ name, arguments: {} }, { tools, policies, session });
  return outcome.kind === 'ok' ? String(outcome.value) : outcome.kind;
}

assert.equal(await call(plugins, 'git_push'), 'denied');
assert.equal(await call(plugins, 'git_test'), 'git test');
assert.equal(await call(plugins, 'git_push'), 'git push');
assert.equal(await call(plugins, 'push'), 'hg push https://hg.example.com');
// A registry is immutable: adding a pack creates another one.
assert.equal(await call(plugins.use(freeze, { preset: 'strict' }), 'push'), 'denied');
assert.equal(await call(plugins, 'push'), 'hg push https://hg.example.com');

assert.equal(plugins.resolve('git/push')?.name, 'git_push');
assert.deepEqual(plugins.explain('git_push')[0]?.provenance, { plugin: 'git', version: '1.2.0', package: '@acme/git' });
console.log(
  plugins
    .explain('git/push')
    .map(({ kind, name, note }) => `${kind} ${name}, ${note}`)
    .join('\n'),
);
