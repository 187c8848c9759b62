import { defineTool, type FilesystemReader, type Json, type JsonObject, type PolicyContext } from '@holdfast/core';
import { packPolicies } from '@holdfast/policy';
import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { filesystemGuard } from './filesystem-guard.ts';

const unused = (): never => {
  throw new Error('not needed here');
};
const filesystem: FilesystemReader = {
  resolve: async (path) => path.replace(/^\.?\//u, ''),
  stat: unused,
  read: unused,
  readText: unused,
  list: unused,
  walk: unused,
};

async function check(name: string, input: Json, { config = {}, preset = 'recommended', files = filesystem } = {}) {
  const call = { id: 'c', tool: defineTool({ name, description: 'A tool of the tests.' }), input };
  // What these policies look at.
  const context = { state: undefined, filesystem: files } as unknown as PolicyContext;
  const decisions = await Promise.all(
    packPolicies(filesystemGuard, { preset, config }).map(async (policy) => policy.check(call, context)),
  );
  return decisions.map(({ type }) => type).join();
}

test('its version is that of the package, its presets are printable', () => {
  expect(filesystemGuard.version).toBe(manifest.version);
  expect(JSON.parse(JSON.stringify(filesystemGuard.presets))).toMatchObject({
    recommended: { config: {} },
    strict: { config: { readOnly: expect.arrayContaining(['.github']) } },
    observe: { observe: true },
  });
});

test.each([
  ...['.env', '.env.local', 'prod.env', '.envrc', 'a/b.key', 'id_rsa', 'id_ed25519_work', '.ssh/known_hosts'],
  ...['.npmrc', '.netrc', '.git/config', 'vendor/.git/config', 'home/.aws/credentials', '.kube/config', 'x.tfstate'],
  ...['.git/config.worktree', '.git/modules/a/config', '.git/modules/a/modules/b/config', 'x/.git/modules/a/config'],
  ...['terraform.tfvars', 'prod.auto.tfvars.json', 'AuthKey_1.p8', '.config/git/credentials', '.bash_history'],
  ...['app-firebase-adminsdk-x1.json', 'service_account.json', 'local.settings.json', 'dev.kubeconfig'],
  ...['service-account-1.json', 'secrets.yml', '.env.example/.env', '.config/gcloud/a.json', '.env.local.bak'],
])('%s is secret', async (path) => {
  expect(await check('read_file', { path })).toBe('deny,allow');
  expect(await check('read_file', { path: path.toUpperCase() })).toBe('deny,allow');
  expect(await check('read_file', { path }, { config: { notSecret: [path] } })).toBe('allow,allow');
});

test.each([
  ...['.env.example', 'a/.env.local.sample', 'id_rsa.pub', 'secrets.ts', 'environment.ts', 'src/keys.ts', '.gitignore'],
  ...['package.json', 'config.json', 'docs/env.md', '.git/HEAD', '.git/modules/a/HEAD', 'terraform.tfvars.example'],
  ...['config/settings.json', 'src/history.ts', '.aws/config', 'tsconfig.json', 'main.tf', 'service.json'],
])('%s is none', async (path) => {
  expect(await check('read_file', { path })).toBe('allow,allow');
});

test('what the host calls a secret is one, also where it looks like an example', async () => {
  const config = { secrets: ['*.example'] };
  expect(await check('read_file', { path: 'a.example' }, { config })).toBe('deny,allow');
});

test.each<{ config: JsonObject; says: string }>([
  { config: { secrets: ['a/../b'] }, says: 'secrets[0]' },
  { config: { notSecret: [''] }, says: 'notSecret[0]' },
  { config: { readOnly: ['[a'] }, says: 'must be a pattern' },
  { config: { secrets: '.env' }, says: 'secrets' },
  { config: { read: ['../x'] }, says: 'from the root on' },
  { config: { write: ['*.ts'] }, says: 'from the root on' },
  { config: { readers: { 'Cat It': 'file' } }, says: 'name of a tool' },
  { config: { writers: { put: '' } }, says: 'writers' },
  { config: { searchers: { ack: { glob: 'g' } } }, says: 'searchers' },
  { config: { secret: ['.env'] }, says: 'Unknown key' },
])('$config is refused', ({ config, says }) => {
  expect(() => packPolicies(filesystemGuard, { config })).toThrow(
    expect.objectContaining({ code: 'pack.config.invalid', message: expect.stringContaining(says) }),
  );
});

test.each<Json>([{}, [], null, 'x', { path: 5 }, { path: { a: 1 } }, { path: [['x']] }])(
  'arguments that hold no path are denied: %j',
  async (input) => {
    expect(await check('read_file', input)).toBe('deny,allow');
    expect(await check('write_file', input)).toBe('deny,deny');
  },
);

test('a fault of the filesystem is no answer', async () => {
  const files = { ...filesystem, resolve: unused };
  await expect(check('read_file', { path: 'a' }, { files })).rejects.toThrow('not needed here');
});
