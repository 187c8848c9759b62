import { expect, test } from 'vitest';
import { keyOf, secretFinder } from './secrets.ts';

const isSecret = secretFinder();

test.each([
  ...['.env', '.env.local', 'prod.env', '.envrc', 'a/b.key', 'id_rsa', 'id_ed25519_work', '.ssh/known_hosts'],
  ...['.npmrc', '.netrc', '.git/config', 'vendor/.git/config', 'home/.aws/credentials', '.kube/config', 'x.tfstate'],
  ...['.git/config.worktree', '.git/modules/a/config', '.git/modules/a/modules/b/config', 'x/.git/modules/a/config'],
  ...['terraform.tfvars', 'prod.auto.tfvars.json', 'AuthKey_1.p8', '.config/git/credentials', '.bash_history'],
  ...['app-firebase-adminsdk-x1.json', 'service_account.json', 'local.settings.json', 'dev.kubeconfig'],
  ...['service-account-1.json', 'secrets.yml', '.env.example/.env', '.config/gcloud/a.json', '.env.local.bak'],
  ...['etc/shadow', 'proc/self/environ', 'proc/12/mem'],
])('%s is secret', (path) => {
  expect(isSecret(path)).toBe(true);
  expect(isSecret(path.toUpperCase())).toBe(true);
  expect(secretFinder({ notSecret: [path] })(path)).toBe(false);
});

test.each([
  ...['.env.example', 'a/.env.local.sample', 'id_rsa.pub', 'secrets.ts', 'environment.ts', 'src/keys.ts', '.gitignore'],
  ...['package.json', 'config.json', 'docs/env.md', '.git/HEAD', '.git/modules/a/HEAD', 'terraform.tfvars.example'],
  ...['config/settings.json', 'src/history.ts', '.aws/config', 'tsconfig.json', 'main.tf', 'service.json'],
])('%s is not secret', (path) => {
  expect(isSecret(path)).toBe(false);
});

test('a file that the host names is secret, even if it looks like an example', () => {
  expect(secretFinder({ secrets: ['*.example'] })('a.example')).toBe(true);
});

test.each([
  ['/w/a/b', 'a/b'],
  ['/w', 'w'],
  ['/wide/a', 'wide/a'],
  ['/home/me/.ssh/id', 'home/me/.ssh/id'],
])('%s has the key %s', (path, key) => {
  expect(keyOf(path, '/w')).toBe(key);
});
